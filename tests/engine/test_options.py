"""Settings of a job are the options of the command line, with the same bounds."""

import argparse
import contextlib
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mezzotint.cli.generate_options import add_generate_options, options_of
from mezzotint.errors import UsageError
from mezzotint.option_values import is_text
from mezzotint.options import OPTIONS, SETTINGS, Options, read_settings, said_settings

NOT_SETTINGS = {"prompt", "preview-dir", "output", "overwrite"}  # the job has other places for them
CLI = argparse.ArgumentParser()
add_generate_options(CLI)
FLAGS = {"strict", "compile", "fast", "zero-terminal-snr"}
LISTS = {"embedding", "lora"}


def by_command_line(name, cell):
    with contextlib.redirect_stderr(io.StringIO()):
        try:
            return getattr(options_of(CLI.parse_args([f"--{name}={cell}"])), SETTINGS[name].field)
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
    read = read_settings(said_settings(options), lambda name, message: UsageError(name + message))
    assert read == options
