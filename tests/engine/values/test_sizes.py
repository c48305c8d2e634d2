"""Sizes, as words of the command line and as job files state them."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mezzotint.values.sizes import AUTO_TILE, SIDES, MarginSizes, MemorySize, TileSide

margins = MarginSizes().parse


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


@given(st.integers(2**20, 2**50))
@example(1_048_576_000_000_000)  # ten digits before MB
def test_memory_that_is_written_in_words_is_read_again(size):
    (word,) = MemorySize().to_arguments(size)
    assert MemorySize().parse(word) == pytest.approx(size, abs=1)


def test_the_side_of_a_tile_is_a_number_of_pixels_or_a_word():
    tile = TileSide()
    for word, side, setting in (("auto", AUTO_TILE, "auto"), ("off", 0, "off"), ("768", 768, 768)):
        assert tile.parse(word) == side and tile.to_setting(side) == setting and tile.read(setting) == side
        assert tile.to_arguments(side) == [word]
    for wrong in ("64", 9999, "large", "-5", True, None, 768.5):
        with pytest.raises(ValueError, match="expected auto, off, or a whole number of pixels from 128 to 4096"):
            tile.read(wrong)
