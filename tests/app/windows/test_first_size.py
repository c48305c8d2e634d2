"""The window opens within the screen."""

import pytest
from PySide6.QtCore import QSize

from mezzotint_app.windows.first_size import first_size

USUAL, LEAST = QSize(1280, 840), QSize(880, 560)


@pytest.mark.parametrize(("width", "height"), [(1280, 680), (1280, 720), (1366, 728), (1366, 768), (1920, 1040)])
def test_it_fits_the_screen_with_its_frame(width, height):
    size = first_size(USUAL, LEAST, QSize(width, height))
    assert size.width() < width
    assert size.height() + 30 <= height


def test_with_room_it_has_its_usual_size():
    assert first_size(USUAL, LEAST, QSize(2560, 1400)) == USUAL


def test_it_is_never_too_small_to_be_used():
    assert first_size(USUAL, LEAST, QSize(800, 480)) == LEAST
