"""Which sizes are denoised in tiles, and how large these are; the rest: `tests/e2e/test_large_images.py`."""

from types import SimpleNamespace

import pytest

from mezzotint.errors import UsageError
from mezzotint.protocol import ModelDefaults, Sampling
from mezzotint.stages.tile_sizes import check_tiled, seen_size, settled_tile, stage_tile
from mezzotint.values.sizes import AUTO_TILE


def made_for(width, height, *, conditional_refiner=False):
    defaults = ModelDefaults(width=width, height=height, steps=10, guidance_scale=4.0)
    return SimpleNamespace(defaults=defaults, conditional_refiner=conditional_refiner)


@pytest.mark.parametrize(
    ("asked", "size", "tile"),
    [
        (None, (8192, 8192), 0),
        (0, (8192, 8192), 0),
        (AUTO_TILE, (1536, 1024), 0),  # one and a half times a tile is seen at once
        (AUTO_TILE, (1600, 512), 1024),
        (512, (1024, 768), 512),
        (768, (1024, 1152), 0),
    ],
)
def test_tiles_are_about_as_large_as_the_images_that_the_model_is_made_for(asked, size, tile):
    assert stage_tile(Sampling(denoise_tile=asked), made_for(1024, 1088), size, 16) == tile


def test_the_model_s_multiples_are_those_of_its_tiles():
    with pytest.raises(UsageError, match="tiles of 200 pixels .* multiples of 64, such as 192"):
        stage_tile(Sampling(denoise_tile=200), made_for(1024, 1024), (2048, 2048), 64)


def test_auto_is_settled_for_the_record():
    sides = [settled_tile(Sampling(denoise_tile=asked), made_for(512, 700)) for asked in (AUTO_TILE, 256, 0, None)]
    assert sides == [512, 256, 0, None]


def test_a_tile_is_seen_as_far_as_the_image_goes():
    assert seen_size((2048, 640), 1024) == (1024, 640)
    assert seen_size((2048, 640), 0) == (2048, 640)


def test_results_of_a_step_are_not_kept_for_each_tile():
    with pytest.raises(UsageError, match="--step-cache"):
        check_tiled(Sampling(step_cache=0.1), 512, made_for(512, 512))
    check_tiled(Sampling(step_cache=0.1), 0, made_for(512, 512))
