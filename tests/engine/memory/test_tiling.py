"""Images in tiles: what is made square by square is what is made at once, where a square needs no neighbour."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from mezzotint.memory.tiling import in_tiles


def image(height, width, seed=0):
    return torch.randn(1, 4, height, width, generator=torch.Generator().manual_seed(seed))


def enlarged(x):
    """Every output pixel of one input pixel."""
    return torch.nn.functional.interpolate(x, scale_factor=4, mode="nearest") * 3 + 1


@given(st.integers(3, 40), st.integers(3, 40), st.integers(8, 24))
def test_what_looks_at_single_pixels_is_the_same(height, width, tile):
    x = image(height, width)
    torch.testing.assert_close(in_tiles(enlarged, x, tile, takes=1, gives=4), enlarged(x), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(("height", "width"), [(9, 30), (30, 31), (24, 24)])
def test_down_to_latents(height, width):
    pixels = image(height * 8, width * 8)
    shrunk = torch.nn.AvgPool2d(8)
    torch.testing.assert_close(in_tiles(shrunk, pixels, 10, takes=8, gives=1), shrunk(pixels), rtol=1e-5, atol=1e-5)


def test_no_piece_is_larger_than_a_tile_and_all_that_are_cut_are_of_one_size():
    sizes = []
    in_tiles(lambda x: sizes.append(tuple(x.shape[-2:])) or x, image(33, 57), 16, takes=1, gives=1)
    assert set(sizes) == {(16, 16)} and len(sizes) == 3 * 5


def test_neighbours_fade_into_each_other():
    """A step between two tiles becomes a slope: no jump is larger than the overlap allows."""
    tones = iter([0.0, 1.0])
    row = in_tiles(lambda x: torch.full_like(x, next(tones)), image(16, 28), 16, takes=1, gives=1)[0, 0, 0]
    assert row[0] == 0 and row[-1] == 1
    steps = row.diff()
    assert (steps >= 0).all() and steps.max() <= 0.3
