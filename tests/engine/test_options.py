"""Settings of a job are the options of the command line, with the same bounds."""

import argparse
import contextlib
import io
import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mezzotint.cli.generate_options import add_generate_options
from mezzotint.cli.generate_options import options_of as parsed_options
from mezzotint.errors import UsageError
from mezzotint.options import OPTIONS, SETTINGS, Options, options_of, read_settings, to_arguments, to_settings
from mezzotint.protocol import Cascade, GenerateRequest, ImageInput, Inpaint, ModelRef, Sampling, Stage, Transition
from mezzotint.values.basic import is_text

NOT_SETTINGS = {"prompt", "preview-dir", "preview-decoder", "output", "overwrite"}  # the job has other places for them
CLI = argparse.ArgumentParser()
add_generate_options(CLI)
FLAGS = {"strict", "compile", "fast", "zero-terminal-snr"}
LISTS = {"embedding", "lora"}


def by_command_line(name, cell):
    with contextlib.redirect_stderr(io.StringIO()):
        try:
            return getattr(parsed_options(CLI.parse_args([f"--{name}={cell}"])), SETTINGS[name].field)
        except SystemExit:
            return "refused"


def by_job(name, cell):
    try:
        return SETTINGS[name].read_cell(cell)
    except ValueError:
        return "refused"


def cells():
    numbers = st.one_of(
        st.integers(-3, 12_000), st.floats(-2, 200).map(lambda one: round(one, 3)), st.just(2**63), st.just("nan")
    )
    words = st.sampled_from(
        [
            "auto",
            "none",
            "int8",
            "latent",
            "pixel",
            "lanczos",
            "whole",
            "masked",
            "blur",
            "lowest",
            "float16",
            "flash",
            "off",
        ]
    )
    shapes = st.sampled_from(["6GB", "512 mb", "0GB", "128x96", "0x5", "1,2,3,4", "right=4", "right=4,right=5", "a=1"])
    loras = st.sampled_from(["ink.safetensors:0.8", "ink.safetensors", "C:\\a:-1"])
    return st.one_of(numbers.map(str), words, shapes, loras)


def test_every_option_is_a_setting_and_no_other_word_is():
    assert set(SETTINGS) == set(OPTIONS) - NOT_SETTINGS


def test_every_option_is_on_the_command_line():
    flags = {flag for action in CLI._actions for flag in action.option_strings}
    assert {one.flag for one in OPTIONS.values()} - {"--prompt"} <= flags


@given(st.sampled_from(sorted(set(SETTINGS) - FLAGS)), cells())
def test_a_cell_means_what_it_means_on_the_command_line(name, cell):
    if cell.isdigit() and name in ("vram-limit", "ram-limit"):
        return  # a bare number is bytes only where it is written by a program
    assert by_job(name, cell) == by_command_line(name, cell)


@pytest.mark.parametrize("value", [True, "7", 7.0, [7], {"a": 7}, None])
def test_types_are_not_turned_into_each_other(value):
    with pytest.raises(ValueError, match="whole number"):
        SETTINGS["steps"].takes.read(value)


@given(
    st.builds(
        Options,
        size=st.none() | st.tuples(st.integers(1, 9999), st.integers(1, 9999)),
        guidance=st.none() | st.floats(0, 100),
        outpaint=st.none() | st.tuples(*[st.integers(0, 99)] * 3, st.integers(1, 99)),
        vram_limit=st.none() | st.integers(2**20, 2**50),
        strict=st.booleans(),
        negative=st.none() | st.text(max_size=30).filter(is_text),
    )
)
def test_what_is_written_is_read_again(options):
    read = read_settings(to_settings(options), lambda name, message: UsageError(name + message))
    assert read == options


def test_what_was_said_is_a_value():
    said = Options(steps=20, lora=(), strict=False, seed=None)
    assert (said.steps, said.lora, said.strict, said.seed) == (20, (), False, None)
    assert said == Options(steps=20) != Options(steps=21)
    assert hash(said) == hash(Options(steps=20))
    assert repr(said.replace(seed=7)) == "Options(steps=20, seed=7)"
    assert said.of(Sampling) == {"steps": 20}


def test_a_name_that_is_no_option_is_a_bug():
    with pytest.raises(TypeError, match="there is no option stepps"):
        Options(stepps=20)
    with pytest.raises(AttributeError, match="stepps"):
        _ = Options().stepps


@pytest.mark.parametrize(
    ("said", "name", "message"), [({"stepps": 20}, "stepps", ""), ({"steps": 0}, "steps", "whole number")]
)
def test_a_setting_that_cannot_be_is_told_by_name(said, name, message):
    told = []

    def problem(*words):
        told.append(words)
        return UsageError("no")

    with pytest.raises(UsageError, match="no"):
        read_settings(said, problem)
    assert told[0][0] == name and message in told[0][1]


def test_what_a_request_says_as_words():
    base = Stage(model=ModelRef(id="xl"), width=640, height=480, until=0.7, sampling=Sampling(zero_terminal_snr=False))
    refiner, larger = Stage(model=ModelRef(id="xl-refiner")), Stage()
    last = Stage(model=ModelRef(id="large"), sampling=Sampling(steps=6, condition_noise=0.2))
    hires = Transition(space="latent", scale=2.0, strength=0.4, upscaler="bicubic")
    request = GenerateRequest(
        prompt="a barn",
        negative_prompt="-blur",
        cascade=Cascade(
            stages=(base, refiner, larger, last),
            transitions=(Transition(), hires, Transition(strength=1.0, refines=True)),
        ),
        images=(
            ImageInput(path="/a.png"),
            ImageInput(path="/m.png", role="mask"),
            ImageInput(path="/r.png", role="reference"),
        ),
        inpaint=Inpaint(right=64),
        strict=True,
    )
    words = list(to_arguments(options_of(request)))
    assert "a barn" not in words
    assert {"--negative=-blur", "--strict", "--no-zero-terminal-snr"} <= set(words)
    pairs = dict(itertools.pairwise(words))
    for name, value in {
        "model": "xl",
        "size": "640x480",
        "refiner": "xl-refiner",
        "refiner-at": "0.7",
        "init": "/a.png",
        "mask": "/m.png",
        "reference": "/r.png",
        "outpaint": "0,0,64,0",
        "hires": "2",
        "refine-with": "large",
        "refine-steps": "6",
        "condition-noise": "0.2",
    }.items():
        assert pairs[f"--{name}"] == value


def test_a_bare_request_says_nothing_but_its_prompt():
    assert options_of(GenerateRequest(prompt="a barn")) == Options(prompt="a barn")
    assert options_of(GenerateRequest(prompt="a barn", cascade=Cascade(stages=()))) == Options(prompt="a barn")
    assert options_of(GenerateRequest(prompt="a barn", strength=0.5, inpaint=Inpaint())) == Options(prompt="a barn")
    cascade = Cascade(stages=(Stage(), Stage()), transitions=(Transition(),))
    assert options_of(GenerateRequest(prompt="a barn", cascade=cascade)) == Options(prompt="a barn")
