"""`mezzotint quantize --scheme auto`: what may be asked, and what is told."""

import json

import pytest
import torch
from safetensors.torch import load_file

from mezzotint.catalog.catalog import Catalog
from mezzotint.cli import main
from mezzotint.conversion.auto.choosing import Mix
from mezzotint.conversion.auto.layers import Candidate, MeasuredLayer
from mezzotint.jobs.calibration.auto import AutoQuantization
from mezzotint.protocol import ModelRef
from mezzotint.quantization.formats import Int8, LowRank4, Nf4
from mezzotint.quantization.svdquant.format import SvdQuant
from mezzotint.quantization.svdquant.groups import smoothing_of

LAYERS = ("transformer_blocks.0.attn1.to_q", "transformer_blocks.0.ff.net.2")


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
        (("--scheme", "auto", "-o", "x"), "--scheme auto needs --target-vram"),
        (("--scheme", "auto", "--target-vram", "8GB"), "-o is missing"),
        (("--scheme", "auto", "--target-vram", "8 apples", "--dry-run"), "'8 apples' is neither an amount of memory"),
        (("--scheme", "auto", "--target-vram", "8TB", "--dry-run"), "expected a number and GB or MB"),
        (("--scheme", "int8", "--target-vram", "8GB", "-o", "x"), "--target-vram belongs to --scheme auto"),
        (("--scheme", "int8", "--dry-run"), "--dry-run belongs to --scheme auto"),
        (("--scheme", "int8", "--allow-unquantized", "-o", "x"), "--allow-unquantized belongs to --scheme auto"),
        (("--scheme", "auto", "--target-vram", "100MB", "--dry-run"), "no mix of schemes keeps starter-dit within 100"),
        (("--scheme", "auto", "--target-vram", "8GB", "-o", "x"), "--allow-unquantized writes the copy as it is"),
    ],
)
def test_what_cannot_be(call, tmp_path, monkeypatch, words, reason):
    monkeypatch.chdir(tmp_path)
    code, out, err = call("starter-dit", *words)
    assert code == 2 and reason in err and not out
    assert not list(tmp_path.iterdir())


def test_an_existing_place_is_refused_before_anything_is_measured(call, tmp_path):
    code, _, err = call("starter-dit", "--scheme", "auto", "--target-vram", "8GB", "-o", tmp_path)
    assert code == 2 and "exists already" in err


def test_a_card_with_room_is_told_so(call):
    code, out, _ = call("starter-dit", "--scheme", "auto", "--target-vram", "RTX 4090", "--dry-run")
    assert code == 0 and out.startswith("starter-dit fits 24 GB in 16 bits (as planned: a peak of ")


def test_a_copy_in_16_bits_is_written_if_asked_for(call, tmp_path):
    words = ("--scheme", "auto", "--target-vram", "8GB", "--allow-unquantized", "-o", tmp_path / "same")
    code, out, _ = call("starter-dit", *words)
    assert code == 0 and "in 16 bits" in out and "unchanged" in out
    assert json.loads((tmp_path / "same" / "mezzotint.json").read_text())["quantization"] == {}


@pytest.fixture
def measured(monkeypatch):
    """Nothing is recorded: two layers are enough, one of which is quantized to 4 bits and one to 8."""

    monkeypatch.setattr(AutoQuantization, "_mix", lambda self, *_: mix_of(self, Nf4(), Int8(dynamic=False)))


def mix_of(auto, *formats):
    """The layers with these formats."""
    layers = []
    for name, chosen in zip(LAYERS, formats, strict=True):
        shape = auto._shapes[name]
        exact = Candidate(format=None, bytes=2 * shape[0] * shape[1], error=0.0, speed=1.0)
        small = Candidate(format=chosen, bytes=exact.bytes // 2, error=0.02, speed=0.9)
        layers.append(
            MeasuredLayer(
                name=name,
                candidates=(exact, small),
                work=1.0,
                influence=0.5,
                magnitudes=torch.linspace(0.1, 10, shape[1]),
            )
        )
    return Mix(layers=tuple(layers), chosen={layer.name: layer.candidates[1] for layer in layers})


WORDS = ("starter-dit", "--scheme", "auto", "--target-vram", "723MB")


def test_each_layer_and_what_is_expected(call, measured):
    code, out, _ = call(*WORDS, "--dry-run")
    assert code == 0
    layers, summary = out.strip().split("\n\n")
    assert layers.splitlines()[0].split() == ["LAYER", "SCHEME", "BYTES", "SHARE", "ERROR", "OF", "OUTPUT"]
    assert [line.split()[:2] for line in layers.splitlines()[1:]] == [[LAYERS[0], "int4"], [LAYERS[1], "int8-weight"]]
    assert "starter-dit fits 723 MB" in summary and "layers: 1 int4, 1 int8-weight" in summary
    assert "expected error of the output: 1.41%" in summary and "1.11 times that in 16 bits" in summary


def test_numbers_for_programs(call, measured):
    code, out, _ = call(*WORDS, "--dry-run", "--json")
    told = json.loads(out)["auto"]
    assert code == 0 and told["schemes"] == {"int4": 1, "int8-weight": 1}
    assert told["components"]["transformer"][LAYERS[0]]["scheme"] == "int4"


def test_the_copy_has_what_was_chosen(call, measured, tmp_path):
    code, out, _ = call(*WORDS, "-o", tmp_path / "small")
    assert code == 0 and "1 int4, 1 int8-weight" in out and out.strip().endswith(str(tmp_path / "small"))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["small"]
    told = json.loads((tmp_path / "small" / "quantization.json").read_text())
    assert set(told["components"]["transformer"]) == set(LAYERS)


def test_the_copy_is_smoothed_by_the_inputs_that_were_measured(call, monkeypatch, tmp_path):
    monkeypatch.setattr(AutoQuantization, "_mix", lambda self, *_: mix_of(self, SvdQuant(rank=16), LowRank4(rank=16)))
    assert call(*WORDS, "-o", tmp_path / "small")[0] == 0
    model = Catalog.standard().find(ModelRef(id="starter-dit")).checkpoint.path
    exact, written = (
        load_file(folder / "transformer" / "diffusion_pytorch_model.safetensors")
        for folder in (model, tmp_path / "small")
    )
    first, second = (exact[f"{name}.weight"].float() for name in LAYERS)
    balance = torch.linspace(0.1, 10, first.shape[1])
    assert written[f"{LAYERS[0]}.weight_smooth"].equal(smoothing_of(first, balance))
    for part, tensor in LowRank4(rank=16).quantize(second).items():  # as by the scheme alone
        assert written[f"{LAYERS[1]}.{part}"].equal(tensor)


def test_ctrl_c_leaves_nothing(measured, tmp_path, monkeypatch, capsys):
    from mezzotint.cli.context import Context
    from mezzotint.cli.entry import run
    from mezzotint.cli.interrupt import Interrupt
    from mezzotint.conversion import model as conversion

    interrupt = Interrupt(tell=lambda _: None, end=lambda _: None)
    once = conversion._convert_component

    def pressed(*given):
        made = once(*given)
        interrupt.enable_graceful_stop()
        interrupt.handle(2, None)
        return made

    monkeypatch.setattr(conversion, "_convert_component", pressed)
    assert run(["quantize", *WORDS, "-o", str(tmp_path / "small")], Context(interrupt=interrupt)) == 130
    assert "Stopped" in capsys.readouterr().err and not list(tmp_path.iterdir())
