"""Words that are refused, and what the refusal says."""

from argparse import ArgumentTypeError

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mezzotint.cli.argument_types import card_memory, integer, memory_size, size, text


@given(st.integers(1, 999_999), st.integers(1, 999_999), st.sampled_from("xX\u00d7"))
def test_sizes_are_read(width, height, cross):
    assert size(f"{width}{cross}{height}") == (width, height)


@pytest.mark.parametrize(
    "words", ["", "x", "1024", "0x64", "64x0", "-64x64", "64x64x64", "64 x 64", "1e3x64", "9999999x1"]
)
def test_no_sizes_are_refused_with_an_example(words):
    with pytest.raises(ArgumentTypeError, match="1024x1024"):
        size(words)


def test_integers_within_bounds():
    parse = integer(0, 10, 7)
    assert [parse("0"), parse("10"), parse("+3")] == [0, 10, 3]


@pytest.mark.parametrize("words", ["-1", "11", "1.5", "x", "", "1e1", "1_0", "\u0663", "9" * 30, "nan"])
def test_other_integers_are_refused_with_the_bounds(words):
    with pytest.raises(ArgumentTypeError, match="whole number from 0 to 10, such as 7"):
        integer(0, 10, 7)(words)


@given(st.text())
def test_text_is_taken_as_it_is(words):
    assert text(words) == words


def test_bytes_that_are_no_text_are_refused_in_plain_characters():
    with pytest.raises(ArgumentTypeError, match="not valid text") as caught:
        text("a \udcff barn")
    assert str(caught.value).isascii()


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        ("6GB", 6 * 2**30),
        ("6.5 GB", 13 * 2**29),
        ("512MB", 2**29),
        ("512 mib", 2**29),
        (" 1gb ", 2**30),
        ("0.5Gb", 2**29),
    ],
)
def test_memory(words, wanted):
    assert memory_size(words) == wanted


@pytest.mark.parametrize(
    "words", ["", "6", "GB", "-1GB", "0GB", "6TB", "6 G B", "1e3GB", "nan GB", "9999999999GB", "6GB6"]
)
def test_what_is_no_memory(words):
    with pytest.raises(ArgumentTypeError, match="such as 6GB"):
        memory_size(words)


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        ("6GB", (6 * 2**30, None)),
        ("8 GB card", (8 * 2**30, None)),
        ("rtx 3060", (12 * 2**30, "RTX 3060")),
        ("RTX 4060 Ti 16GB", (16 * 2**30, "RTX 4060 Ti")),
    ],
)
def test_memory_of_a_card(words, wanted):
    assert card_memory(words) == wanted


@pytest.mark.parametrize("words", ["", "RTX 9999", "card", "6", "6TB card"])
def test_what_is_no_card(words):
    with pytest.raises(ArgumentTypeError, match="such as 6GB, or a card, such as 'RTX 4090'"):
        card_memory(words)


@given(st.integers(1, 2**20))
def test_memory_in_whole_megabytes_is_exact(count):
    assert memory_size(f"{count}MB") == count * 2**20
