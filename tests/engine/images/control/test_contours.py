"""Soft contours of images."""

import numpy as np
from PIL import Image

from mezzotint.images.control.contours import contours
from mezzotint.images.control.methods import METHODS


def _scene():
    """A light square on dark ground, with noise in a corner that is far weaker, as of grass."""
    scene = np.full((128, 128, 3), 40, np.uint8)
    scene[30:80, 30:80] = (220, 180, 150)
    noise = np.random.default_rng(1).integers(-12, 12, (40, 40, 1))
    scene[88:, 88:] = (scene[88:, 88:].astype(int) + noise).astype(np.uint8)
    return scene


def test_contours_are_soft_and_texture_is_weak():
    found = contours(_scene())
    along = found[55, 20:45]  # across the left side of the square
    assert found.min() == 0 and found.max() == 1
    assert along.argmax() in (9, 10) and along.max() > 0.9
    assert 0 < along[6] < along[8] < along.max()  # it fades
    assert found[50:60, 50:60].max() < 0.05
    assert found[94:122, 94:122].mean() < 0.15


def test_an_edge_between_colours_of_the_same_brightness_is_found():
    image = np.zeros((64, 64, 3), np.uint8)
    image[:, :32], image[:, 32:] = (200, 0, 0), (0, 102, 0)
    assert np.ptp(np.asarray(Image.fromarray(image).convert("L")).astype(int)) <= 1
    assert contours(image)[32, 31] > 0.9


def test_nothing_is_found_in_one_colour():
    assert not contours(np.full((20, 30, 3), 90, np.uint8)).any()
    assert METHODS["lines"](Image.new("RGB", (1, 3), "red")).getextrema() == ((0, 0),) * 3


def test_a_larger_image_has_the_same_contours():
    small = Image.fromarray(np.kron(_scene(), np.ones((4, 4, 1), np.uint8)))  # 512 x 512
    lines = np.asarray(METHODS["lines"](small))[..., 0].astype(int)
    larger = small.resize((1024, 1024), Image.Resampling.NEAREST)
    again = np.asarray(METHODS["lines"](larger).resize((512, 512), Image.Resampling.BOX))[..., 0].astype(int)
    assert np.abs(lines - again).mean() < 3
