"""Large images are scaled elsewhere, once for each size, and the newest size wins."""

import pytest
from skip_rules import skip_module_without

skip_module_without("PySide6")

from PySide6.QtCore import QSize  # noqa: E402
from PySide6.QtGui import QColor, QImage  # noqa: E402
from shiboken6 import delete  # noqa: E402

from mezzotint_app.widgets.images.scaled_image import ScaledImage  # noqa: E402


def image(width, height, colour="#808080"):
    made = QImage(width, height, QImage.Format.Format_RGB32)
    made.fill(QColor(colour))
    return made


@pytest.fixture
def scaled(inline, qapp):
    return ScaledImage(inline)


def test_a_small_image_is_scaled_at_once_and_kept(scaled):
    scaled.set_image(image(100, 50))
    first = scaled.at(20, 10)
    assert first.size() == QSize(20, 10)
    assert scaled.at(20, 10).cacheKey() == first.cacheKey()


def test_what_is_to_be_larger_is_given_as_it_is(scaled):
    whole = image(100, 50)
    scaled.set_image(whole)
    assert scaled.at(200, 100).cacheKey() == whole.cacheKey()
    assert scaled.at(100, 50).cacheKey() == whole.cacheKey()


def test_a_large_image_is_scaled_elsewhere(scaled, inline):
    inline.held = True
    scaled.set_image(image(4000, 2000))
    told = []
    scaled.ready.connect(lambda: told.append(None))
    assert scaled.at(400, 200).width() == 4000, "until then it is drawn as it is"
    assert scaled.at(300, 150).width() == 4000
    assert len(inline.waiting) == 1, "one at a time"
    inline.go()
    assert told == [None]
    assert scaled.at(300, 150).size() == QSize(300, 150)


def test_another_image_does_not_get_the_old_ones_pixels(scaled, inline):
    inline.held = True
    scaled.set_image(image(4000, 2000, "#ff0000"))
    scaled.at(400, 200)
    scaled.set_image(image(4000, 2000, "#0000ff"))
    scaled.at(400, 200)
    inline.go()
    assert scaled.at(400, 200).pixelColor(5, 5) == QColor("#0000ff")


def test_every_pixel_counts(scaled):
    stripes = image(400, 4, "#000000")
    for x in range(0, 400, 4):
        for y in range(4):
            stripes.setPixelColor(x, y, QColor("#ffffff"))
    scaled.set_image(stripes)
    grey = {scaled.at(100, 1).pixelColor(x, 0).red() for x in range(2, 98)}
    assert max(grey) - min(grey) < 40
    assert 40 < sum(grey) / len(grey) < 90


def test_a_view_that_is_gone_is_told_nothing(scaled, inline):
    inline.held = True
    scaled.set_image(image(4000, 2000))
    scaled.at(400, 200)
    delete(scaled)
    inline.go()
    assert inline.waiting == []
