"""Sizes of what a conditional refiner is given, and of what it makes of it; the rest: `tests/e2e`."""

from types import SimpleNamespace

import pytest

from mezzotint.errors import UsageError
from mezzotint.protocol import ModelDefaults
from mezzotint.stages.refining import condition_size, enlarged_size, refiner_tile, tiling_notice


@pytest.mark.parametrize(
    ("image", "given", "made"),
    [((96, 64), (96, 64), (192, 128)), ((101, 250), (96, 256), (192, 512)), ((1, 3), (16, 16), (32, 32))],
)
def test_an_image_is_given_at_its_size_and_made_at_twice_that(image, given, made):
    assert enlarged_size(image, 16) == made
    assert condition_size(made, 16) == given


def test_of_another_size_half_is_given():
    assert condition_size((208, 1024), 16) == (96, 512)


def refiner(width=256, height=256, *, conditional=True):
    defaults = ModelDefaults(width=width, height=height, steps=10, guidance_scale=4.0)
    return SimpleNamespace(defaults=defaults, conditional_refiner=conditional)


@pytest.mark.parametrize(
    ("own", "size", "multiple", "tile"),
    [
        ((256, 256), (384, 384), 16, 0),
        ((256, 256), (400, 256), 16, 256),
        ((256, 256), (256, 512), 16, 256),
        ((300, 250), (512, 512), 16, 192),
        ((8, 8), (128, 128), 16, 64),  # no smaller: the smaller image has 4 latents there, and one overlaps
        ((256, 256), (512, 512), 96, 192),
    ],
)
def test_beyond_one_and_a_half_times_its_own_size_a_refiner_works_in_tiles_of_about_that(own, size, multiple, tile):
    assert refiner_tile(refiner(*own), size, multiple, 8) == tile
    assert refiner_tile(refiner(*own, conditional=False), size, multiple, 8) == 0


def test_tiles_need_two_latents_for_each_of_the_smaller_image():
    with pytest.raises(
        UsageError, match="520x512 is refined in tiles, as it is larger than 256x256; .* multiples of 16"
    ):
        refiner_tile(refiner(), (520, 512), 8, 8)


def test_tiles_are_told_with_their_number():
    told = tiling_notice("a refiner", refiner(), (512, 256), 256)
    assert told.startswith("a refiner is made for images of 256x256: 512x256 is refined in 3 overlapping tiles")
