"""Scribbles of photos, and drawings that are taken as they are."""

import numpy as np
import pytest
from PIL import Image, ImageDraw

from mezzotint.images.control.methods import METHODS
from mezzotint.images.control.scribble import strokes_of


def _drawing(ink, paper):
    drawing = Image.new("RGB", (300, 200), paper)
    ImageDraw.Draw(drawing).line([(20, 30), (250, 160), (270, 20)], fill=ink, width=3)
    return drawing


@pytest.mark.parametrize(("ink", "paper"), [("black", "white"), ("white", "black")])
def test_a_drawing_is_taken_as_it_is_in_white_on_black(ink, paper):
    made = np.asarray(METHODS["scribble"](_drawing(ink, paper)))
    assert np.array_equal(made, np.asarray(_drawing("white", "black")))


def test_a_photo_is_no_drawing():
    ramp = np.repeat(np.linspace(0, 255, 60, dtype=np.uint8)[None, :, None], 40, axis=0).repeat(3, axis=2)
    assert strokes_of(ramp) is None
    assert strokes_of(np.asarray(_drawing("black", (255, 255, 0)))) is None


def test_contours_of_a_photo_become_thick_lines_and_specks_nothing():
    photo = Image.new("RGB", (512, 512), (90, 120, 60))
    draw = ImageDraw.Draw(photo)
    draw.ellipse((100, 100, 400, 400), fill=(200, 80, 60))
    draw.rectangle((450, 450, 452, 452), fill=(140, 140, 100))
    made = np.asarray(METHODS["scribble"](photo))[..., 0]
    assert set(np.unique(made)) == {0, 255}
    across = np.flatnonzero(made[250, :200])
    assert across.min() > 90 and across.max() < 110 and 4 <= len(across) <= 16
    assert not made[440:, 440:].any() and not made[200:300, 200:300].any()
