"""Values of options, as words of the command line and as job files state them."""

import math
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mezzotint.values.basic import (
    Choice,
    Integer,
    Interval,
    Listed,
    NameOrFile,
    Number,
    Path,
    Text,
    Value,
    WordOrFile,
    YesNo,
    one_of,
    plain_number,
)
from mezzotint.values.sizes import MarginSizes, MemorySize, PixelSize


@given(st.floats(0, 1))
def test_numbers_within_bounds(value):
    assert Number(0, 1, 0.5).parse(repr(value)) == value


@pytest.mark.parametrize("words", ["nan", "NaN", "inf", "-inf", "-0.1", "1.1", "", "x", "1,5"])
def test_other_numbers_are_refused_with_the_bounds(words):
    with pytest.raises(ValueError, match=r"number from 0 to 1, such as 0\.5"):
        Number(0, 1, 0.5).parse(words)


@pytest.mark.parametrize("words", ["0", "1", "0.0", "1.0", "nan"])
def test_a_number_inside_is_not_the_bounds(words):
    with pytest.raises(ValueError, match="between 0 and 1"):
        Number(0, 1, 0.5, inside=True).parse(words)


@given(st.floats(0, 1), st.floats(0, 1))
def test_intervals_are_read_as_they_are_written(low, high):
    kind = Interval()
    if low < high:
        assert kind.read(kind.to_setting((low, high))) == (low, high) == kind.parse(*kind.to_arguments((low, high)))
    else:
        with pytest.raises(ValueError, match="START:END"):
            kind.read(f"{low}:{high}")


@pytest.mark.parametrize("words", ["", "0.2", "0.2:", ":0.8", "0.2:0.8:1", "-0.1:1", "0:1.1", "nan:1", "0:inf", "a:b"])
def test_other_intervals_are_refused(words):
    with pytest.raises(ValueError, match=r"START:END.*0\.2:0\.8"):
        Interval().parse(words)


@pytest.mark.parametrize("value", [0.5, True, None, ["0:1"], [0, 1]])
def test_an_interval_is_text_in_job_files(value):
    with pytest.raises(ValueError, match="START:END"):
        Interval().read(value)


@pytest.mark.parametrize(("value", "words"), [(1.0, "1"), (0.25, "0.25"), (-3.0, "-3"), (1e300, repr(int(1e300)))])
def test_numbers_without_a_fraction_are_written_without_one(value, words):
    assert plain_number(value) == words


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_what_is_no_number_is_written_all_the_same(value):
    assert plain_number(value) == repr(value)


@pytest.mark.parametrize(("cell", "answer"), [("yes", True), ("No", False), ("TRUE", True), ("0", False)])
def test_cells_say_yes_and_no(cell, answer):
    assert YesNo().read(YesNo().from_text(cell)) is answer


@pytest.mark.parametrize(
    ("kind", "value", "stated"),
    [
        (Integer(1, 9, 5), 7, 7),
        (Number(0, 1, 0.5), 0.25, 0.25),
        (Choice(("a", "b")), "b", "b"),
        (Text(30), "a barn", "a barn"),
        (Path(), "/a b.png", "/a b.png"),
        (WordOrFile(words=("auto",)), "auto", "auto"),
        (WordOrFile(words=("auto",)), "/a b.png", "/a b.png"),
        (NameOrFile(words=("lanczos",)), "4x-Sharp", "4x-Sharp"),
        (PixelSize(), (640, 480), "640x480"),
        (MemorySize(), 6 << 30, 6 << 30),
        (MarginSizes(), (0, 0, 128, 64), "0,0,128,64"),
        (Listed(PixelSize()), ((1, 2), (3, 4)), ["1x2", "3x4"]),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_is_stated_is_read_again(kind, value, stated):
    assert kind.to_setting(value) == stated
    assert kind.read(stated) == value
    read = [kind.parse(word) for word in kind.to_arguments(value)]
    assert read == (list(value) if isinstance(kind, Listed) else [value])


@pytest.mark.parametrize(
    ("kind", "value", "message"),
    [
        (Integer(1, 9, 5), 10, "'10' is invalid; expected a whole number from 1 to 9, such as 5"),
        (Choice(("a", "b")), "c", "'c' is invalid; expected one of a, b"),
        (Choice(("a", "b")), {"a": 1}, "a table is invalid"),
        (YesNo(), "maybe", "'maybe' is invalid; expected true or false"),
        (Text(3), 7, "'7' is not text; write it in quotes"),
        (Text(3), ["a"], "a list is not text"),
        (Text(3), "abcd", "longer than 3 characters"),
        (Text(9), "a\x1b[2J", r"'a\\x1b\[2J' is longer than 9 characters, or contains invalid ones"),
        (WordOrFile(words=("a", "b")), "", "'' is invalid; expected one of a, b, or a file"),
        (NameOrFile(words=("a",)), "", "'' is invalid; expected a name or a file"),
        (PixelSize(), "0x9", "'0x9' is not a size; expected width x height in pixels"),
        (MemorySize(), True, "'true' is not an amount of memory"),
        (Value(), 7, "'7' cannot be read"),
    ],
)
def test_others_are_refused_with_what_was_expected(kind, value, message):
    with pytest.raises(ValueError, match=message):
        kind.read(value)


def test_a_list_is_divided_by_semicolons_in_cells():
    kind = Listed(Path())
    assert kind.metavar == Path().metavar
    assert kind.read(kind.from_text("a.png; b.png")) == ("a.png", "b.png")
    assert kind.read("a.png") == ("a.png",)


def test_bytes_of_a_shell_that_are_no_text_are_refused_but_in_names_of_files():
    word = b"a\xff".decode("utf-8", "surrogateescape")
    with pytest.raises(ValueError, match="bytes that are not valid text in this terminal's encoding"):
        Text(30).parse(word)
    assert Text(30).parse("a") == "a"
    assert Path().parse(word) == word


def test_a_literal_gives_the_words_to_choose_from():
    assert one_of(Literal["a", "b"]).choices == ("a", "b")
