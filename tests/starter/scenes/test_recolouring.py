import colorsys

import numpy as np
import pytest
from PIL import Image

from mezzotint_starter.scenes.recolouring import COLOURS, recoloured


@pytest.fixture
def picture():
    """Three rows: red, a darker red and grey; the last column is transparent."""
    image = Image.new("RGBA", (4, 3), (220, 30, 40, 255))
    for x in range(4):
        image.putpixel((x, 1), (140, 20, 26, 255))
        image.putpixel((x, 2), (128, 128, 128, 255))
    for y in range(3):
        image.putpixel((3, y), (220, 30, 40, 0))
    return image


@pytest.mark.parametrize("colour", COLOURS)
def test_what_has_the_prevailing_hue_changes_and_keeps_its_shade(picture, colour):
    before, after = np.asarray(picture), np.asarray(recoloured(picture, colour)).astype(int)
    assert np.array_equal(after[..., 3], before[..., 3])
    assert np.array_equal(after[2, :3], before[2, :3])
    assert after[0, 0, :3].sum() > after[1, 0, :3].sum()


@pytest.mark.parametrize(
    ("colour", "hue"),
    [("red", 0.0), ("orange", 0.08), ("yellow", 0.14), ("green", 0.36), ("blue", 0.6), ("purple", 0.77)],
)
def test_the_new_hue_is_that_of_the_colour(picture, colour, hue):
    red, green, blue, _ = (value / 255 for value in recoloured(picture, colour).getpixel((0, 0)))
    found = colorsys.rgb_to_hsv(red, green, blue)[0]
    assert min(abs(found - hue), 1 - abs(found - hue)) < 0.03
