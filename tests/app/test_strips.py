"""Work on images strip by strip comes to the same pixels as in one piece."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from skip_rules import skip_module_without

skip_module_without("PySide6")

from PySide6.QtCore import QBuffer, QIODevice, QSize, Qt  # noqa: E402
from PySide6.QtGui import QImage  # noqa: E402

from mezzotint_app import strips  # noqa: E402

PLAIN, SEEN_THROUGH = QImage.Format.Format_RGB32, QImage.Format.Format_ARGB32_Premultiplied
SOURCES = {QImage.Format.Format_RGB888: PLAIN, QImage.Format.Format_RGBA8888: SEEN_THROUGH}


def noise(draw, layout):
    width, height = draw(st.integers(1, 70)), draw(st.integers(1, 70))
    data = draw(st.randoms(use_true_random=False)).randbytes(4 * width * height)
    return QImage(data, width, height, 4 * width, QImage.Format.Format_RGBA8888).convertToFormat(layout)


@st.composite
def images(draw, layouts):
    return noise(draw, draw(st.sampled_from(layouts)))


@pytest.fixture(autouse=True)
def _small_strips(monkeypatch):
    monkeypatch.setattr(strips, "MAX_PIXELS", 150)


def whole(image, size):
    return image.scaled(size, Qt.AspectRatioMode.IgnoreAspectRatio, Qt.TransformationMode.SmoothTransformation)


def farthest(one, other):
    """The largest difference of a channel, weighed by what is seen of it."""
    one, other = (image.convertToFormat(SEEN_THROUGH) for image in (one, other))
    return max(abs(a - b) for a, b in zip(bytes(one.constBits()), bytes(other.constBits()), strict=True))


@given(images(list(SOURCES)))
@settings(deadline=None)
def test_converted_as_in_one_piece(image):
    layout = SOURCES[image.format()]
    assert strips.converted(image, layout) == image.convertToFormat(layout)


def test_what_has_the_layout_is_not_touched():
    image = QImage(20, 20, PLAIN)
    assert strips.converted(image, PLAIN).cacheKey() == image.cacheKey()


@given(images([PLAIN, SEEN_THROUGH]), st.floats(0.02, 1), st.floats(0.02, 1))
@settings(deadline=None)
def test_scaled_as_in_one_piece(image, across, down):
    size = QSize(max(1, round(across * image.width())), max(1, round(down * image.height())))
    found = strips.scaled(image, size)
    assert found.size() == size
    assert farthest(found, whole(image, size)) <= 3  # each of the two rounds


def test_an_image_is_decoded_by_the_reader_that_is_named():
    image = QImage(40, 30, PLAIN)
    image.fill(0x336699)
    for kind, there in (("jpg", True), ("png", False)):
        buffer = QBuffer()
        buffer.open(QIODevice.OpenModeFlag.WriteOnly)
        image.save(buffer, kind)
        found = strips.decoded(bytes(buffer.data().data()), "jpg")
        assert found.isNull() is not there
        assert not there or found.size() == image.size()


def test_what_is_no_image_is_null():
    assert strips.decoded(b"\xff\xd8\xff nothing", "jpg").isNull()
