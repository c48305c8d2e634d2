"""Transparency is resized beside the colours, which have no fringes of what was behind it."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from mezzotint.images.transparency import colours_of_all, flattening_notice, opacity_of, with_opacity


def cut_out(hidden="black", size=(37, 20)):
    """Green on the left, transparent on the right, where the colours are hidden."""
    image = Image.new("RGB", size, hidden)
    image.paste((20, 200, 30), (0, 0, size[0] // 2, size[1]))
    opacity = Image.new("L", size)
    opacity.paste(255, (0, 0, size[0] // 2, size[1]))
    image.putalpha(opacity)
    return image


@pytest.mark.parametrize("hidden", ["black", "white", "red"])
def test_hidden_colours_are_those_around_them(hidden):
    colours = np.asarray(colours_of_all(cut_out(hidden))).astype(int)
    assert np.abs(colours - (20, 200, 30)).max() <= 2


def test_visible_pixels_stay_as_they_are():
    image = cut_out()
    image.putpixel((3, 3), (9, 8, 7, 1))
    assert colours_of_all(image).getpixel((3, 3)) == (9, 8, 7)
    opaque = Image.new("RGB", (3, 3), "red")
    assert colours_of_all(opaque) is opaque and opacity_of(opaque) is None and with_opacity(opaque, None) is opaque


@pytest.mark.parametrize("size", [(1, 1), (1, 9), (9, 1)])
def test_an_image_of_which_nothing_is_visible(size):
    assert colours_of_all(Image.new("RGBA", size)).size == size


def test_opacity_is_resized_to_the_image():
    made = with_opacity(Image.new("RGB", (74, 40), "red"), opacity_of(cut_out()))
    assert made.mode == "RGBA" and made.getpixel((5, 5))[3] == 255 and made.getpixel((70, 30))[3] == 0


def test_only_formats_without_transparency_flatten():
    assert flattening_notice(cut_out(), Path("a.png")) is None
    assert flattening_notice(cut_out().convert("RGB"), Path("a.JPG")) is None
    assert "a.JPG: JPEG has no transparency" in str(flattening_notice(cut_out(), Path("a.JPG")))
