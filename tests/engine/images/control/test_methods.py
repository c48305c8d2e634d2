"""Control images made from others."""

import numpy as np
import pytest
from PIL import Image

from mezzotint.images.control.methods import METHODS


@pytest.fixture
def photo():
    picture = Image.new("RGB", (50, 34), (200, 40, 30))
    picture.paste((230, 240, 120), (10, 8, 40, 20))
    return picture


@pytest.mark.parametrize("how", METHODS)
def test_size_and_mode_stay(photo, how):
    made = METHODS[how](photo)
    assert (made.size, made.mode) == (photo.size, "RGB")


def test_what_each_shows(photo):
    assert METHODS["none"](photo) is photo
    grey = np.asarray(METHODS["gray"](photo))
    assert (grey[..., 0] == grey[..., 1]).all() and (grey[..., 0] == np.asarray(photo.convert("L"))).all()
    edges = np.asarray(METHODS["canny"](photo))[..., 0]
    assert set(np.unique(edges)) == {0, 255}
    assert edges[14, 8:12].any() and edges[14, 38:42].any() and not edges[:5].any()
    tile = np.asarray(METHODS["tile"](photo)).astype(int)
    assert np.abs(tile.mean(axis=(0, 1)) - np.asarray(photo).mean(axis=(0, 1))).max() < 4
    assert np.abs(np.diff(tile, axis=1)).max() < np.abs(np.diff(np.asarray(photo).astype(int), axis=1)).max()
