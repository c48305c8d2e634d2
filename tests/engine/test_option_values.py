"""Values of options, as words of the command line and as job files state them."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mezzotint.option_values import SIDES, Interval, MarginSizes, MemorySize, Number, YesNo, plain_number

margins = MarginSizes().parse


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


@given(st.tuples(*[st.integers(0, 999_999)] * 4).filter(any))
def test_margins_are_said_in_order_or_by_name(sides):
    assert margins(",".join(map(str, sides))) == sides
    named = [f"{name}={pixels}" for name, pixels in zip(SIDES, sides, strict=True) if pixels]
    assert margins(", ".join(reversed(named))) == sides


@pytest.mark.parametrize("words", ["", "8", "1,2,3", "1,2,3,4,5", "-8,0,0,0", "0,0,0,1234567", "\u0668,0,0,0"])
@pytest.mark.parametrize("after", ["", ",", ",right=8"])
def test_other_margins_are_refused(words, after):
    with pytest.raises(ValueError, match="LEFT,TOP,RIGHT,BOTTOM"):
        margins(words + after)


@pytest.mark.parametrize(
    "words", ["right=-8", "right", "right=8,right=9", "up=8", "right=8px", "right=1e3", "right=8,"]
)
def test_other_sides_are_refused(words):
    with pytest.raises(ValueError, match="LEFT,TOP,RIGHT,BOTTOM"):
        margins(words)


@pytest.mark.parametrize("words", ["0,0,0,0", "left=0"])
def test_margins_that_add_nothing_are_refused(words):
    with pytest.raises(ValueError, match="does not extend"):
        margins(words)


@given(st.floats(0, 1), st.floats(0, 1))
def test_intervals_are_read_as_they_are_written(low, high):
    kind = Interval()
    if low < high:
        assert kind.read(kind.written((low, high))) == (low, high) == kind.parse(*kind.words((low, high)))
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


@given(st.integers(2**20, 2**50))
def test_memory_that_is_written_in_words_is_read_again(size):
    (word,) = MemorySize().words(size)
    assert MemorySize().parse(word) == pytest.approx(size, abs=1)


@pytest.mark.parametrize(("value", "words"), [(1.0, "1"), (0.25, "0.25"), (-3.0, "-3"), (1e300, repr(int(1e300)))])
def test_numbers_without_a_fraction_are_written_without_one(value, words):
    assert plain_number(value) == words


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_what_is_no_number_is_written_all_the_same(value):
    assert plain_number(value) == repr(value)


@pytest.mark.parametrize(("cell", "answer"), [("yes", True), ("No", False), ("TRUE", True), ("0", False)])
def test_cells_say_yes_and_no(cell, answer):
    assert YesNo().read(YesNo().typed(cell)) is answer
