"""`mezzotint quantize`: what may be asked, and what is told."""

import argparse
import json

import pytest

from mezzotint.cli import main, quantize
from mezzotint.cli.quantize import RANK, choices_of
from mezzotint.families.family import ComponentSource, ModelSources
from mezzotint.quantization import policy


def source(name):
    return ComponentSource(name=name, library="", class_name="", config={}, folder=None, files=(), bytes=0)


@pytest.fixture
def sources():
    names = ("text_encoder", "text_encoder_2", "tokenizer", "unet", "vae")
    return ModelSources(
        family="sdxl",
        detected=None,
        checkpoint=None,
        components={name: source(name) for name in names},
        scheduler={},
        settings={},
    )


def arguments(**more):
    values = {"scheme": "int8", "text_encoders": "none", "target": None, "rank": RANK, "no_rotation": False}
    values["int8_convolutions"] = False
    return argparse.Namespace(**values | more)


def test_the_rank_is_that_of_the_policy():
    """It stands in the command too, so that its help needs no torch."""
    assert RANK == policy.RANK


def test_the_network_that_makes_images_is_quantized(sources):
    assert choices_of(arguments(), sources) == {"unet": policy.Choice(scheme="int8")}


def test_text_encoders_are_chosen_apart_and_together(sources):
    choices = choices_of(arguments(text_encoders="int4"), sources)
    assert {name: choice.scheme for name, choice in choices.items()} == {
        "unet": "int8",
        "text_encoder": "int4",
        "text_encoder_2": "int4",
    }


def test_what_is_turned_off_or_set(sources):
    choice = choices_of(arguments(scheme="int4-lowrank", no_rotation=True, rank=8), sources)["unet"]
    assert choice == policy.Choice(scheme="int4-lowrank", rotate=False, rank=8)


def test_inputs_of_convolutions_are_quantized_only_when_asked_for(sources):
    assert not choices_of(arguments(), sources)["unet"].int8_convolutions
    assert choices_of(arguments(int8_convolutions=True), sources)["unet"].int8_convolutions


@pytest.mark.parametrize("target", ["diffusers", "comfyui"])
def test_for_others_nothing_but_the_scheme_is_written(sources, target):
    choice = choices_of(arguments(target=target), sources)["unet"]
    assert choice.single_format and not choice.convolutions


@pytest.fixture
def call(capsys):
    def run(*words):
        code = main(["quantize", *map(str, words)])
        said = capsys.readouterr()
        return code, said.out, said.err

    return run


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("starter-dit", "-o", "x"), "--scheme"),
        (("starter-dit", "--scheme", "int8"), "-o"),
        (("starter-dit", "--scheme", "int9", "-o", "x"), "int9"),
        (("starter-dit", "--scheme", "none", "-o", "x"), "none"),
        (("starter-dit", "--scheme", "int8", "--rank", "0", "-o", "x"), "0"),
        (("starter-dit", "--scheme", "int8", "--rank", "257", "-o", "x"), "257"),
        (("starter-dit", "--scheme", "int8", "--for", "a1111", "-o", "x"), "a1111"),
        (("starter-dit", "--scheme", "int4", "--int8-convolutions", "-o", "x"), "is for --scheme int8"),
        (("starter-dti", "--scheme", "int8", "-o", "x"), "starter-dit"),
        (("starter-dit", "--scheme", "int4", "--text-encoders", "int8", "--for", "diffusers", "-o", "x"), "int8"),
    ],
)
def test_what_cannot_be(call, tmp_path, monkeypatch, words, reason):
    monkeypatch.chdir(tmp_path)
    code, out, err = call(*words)
    assert code == 2 and reason in err and not out
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("scheme", "target", "reason"),
    [
        ("int4", "comfyui", "comfyui cannot read int4; it reads int8 and int8-weight"),
        ("int8", "diffusers", "diffusers reads quantized folders"),
    ],
)
def test_a_single_file_that_no_other_program_could_read(call, tiny_single_file, tmp_path, scheme, target, reason):
    code, _, err = call(tiny_single_file, "--scheme", scheme, "--for", target, "-o", tmp_path / "a.safetensors")
    assert code == 2 and reason in err
    assert not list(tmp_path.iterdir())


def test_the_table_and_each_layer(call, tmp_path):
    code, out, _ = call("starter-dit", "--scheme", "int4", "-o", tmp_path / "small", "--report")
    assert code == 0
    layers, parts, path = out.strip().split("\n\n")
    lines = layers.splitlines()
    assert lines[0].split() == ["LAYER", "BEFORE", "AFTER", "SHARE", "SCHEME", "ERROR"]
    assert len(lines) == 61 and all("int4" in line and line.endswith("%") for line in lines[1:])
    rows = {line.split()[0]: line for line in parts.splitlines()}
    assert "60 int4" in rows["transformer"] and "unchanged" in rows["vae"] and "all" in rows
    assert path == str(tmp_path / "small")


def test_numbers_for_programs(call, tmp_path):
    code, out, _ = call("starter-dit", "--scheme", "int8", "-o", tmp_path / "small", "--json")
    told = json.loads(out)
    assert code == 0 and set(told) == {"output", "bytes_before", "bytes_after", "components"}
    assert told["bytes_before"] == sum(part["bytes_before"] for part in told["components"])
    layers = [layer for part in told["components"] for layer in part["layers"]]
    assert set(layers[0]) == {"component", "name", "scheme", "bytes_before", "bytes_after", "error"}


def test_events_for_programs(call, tmp_path):
    code, out, _ = call("starter-dit", "--scheme", "int8", "-o", tmp_path / "small", "--jsonl")
    *events, last = map(json.loads, out.splitlines())
    assert code == 0 and last["result"]["output"] == str(tmp_path / "small")
    assert {event["event"]["type"] for event in events} == {"Loading"}
    code, out, _ = call("starter-dit", "--scheme", "int8", "-o", tmp_path / "small", "--jsonl")
    assert code == 2 and json.loads(out)["error"]["kind"] == "usage"


def test_progress_goes_from_nothing_to_all(call, tmp_path, monkeypatch):
    events = []
    monkeypatch.setattr(quantize.Reporter, "on_event", lambda _, event: events.append(event))
    assert call("starter-dit", "--scheme", "int8", "-o", tmp_path / "small")[0] == 0
    done = [event.bytes_done for event in events]
    assert done == sorted(done) and done[-1] == events[-1].bytes_total
    assert {event.component for event in events} == {"text_encoder", "transformer", "vae"}


def test_ctrl_c_stops_in_good_order(tiny_pixart_folder, tmp_path, monkeypatch, capsys):
    from mezzotint.cli.context import Context
    from mezzotint.cli.entry import run
    from mezzotint.cli.interrupt import Interrupt

    interrupt = Interrupt(tell=lambda _: None, end=lambda _: None)
    enable_graceful_stop = interrupt.enable_graceful_stop

    def pressed():
        enable_graceful_stop()
        interrupt.handle(2, None)

    monkeypatch.setattr(interrupt, "enable_graceful_stop", pressed)
    words = ["quantize", str(tiny_pixart_folder), "--scheme", "int8", "-o", str(tmp_path / "small")]
    assert run(words, Context(interrupt=interrupt)) == 130
    assert not (tmp_path / "small").exists() and "Stopped" in capsys.readouterr().err
    assert run(words, Context()) == 0
    assert [path.name for path in tmp_path.iterdir()] == ["small"]
