"""Tiles hold what an image would, and only where something is."""

from hypothesis import given, settings
from hypothesis import strategies as st
from skip_rules import skip_module_without

skip_module_without("PySide6")

from PySide6.QtCore import QRect  # noqa: E402
from PySide6.QtGui import QColor, QImage  # noqa: E402

from mezzotint_app.viewmodel.canvas.tiles import (  # noqa: E402
    FARTHEST,
    LAYOUT,
    TileStore,
    opaque_rect,
    places,
    rect_of,
    tiles_of,
)

sides = st.integers(1, 600)
edges = st.integers(-700, 700)


@given(edges, edges, sides, sides)
@settings(max_examples=30)
def test_what_is_cut_is_read_back(left, top, width, height):
    image = QImage(width, height, LAYOUT)
    image.fill(QColor(10, 200, 30, 255))
    store = TileStore()
    store.put(tiles_of(image, left, top))
    assert store.read(QRect(left, top, width, height)) == image
    assert store.content() == QRect(left, top, width, height)
    assert set(store.all()) == set(places(QRect(left, top, width, height)))
    assert opaque_rect(store.read(QRect(left - 9, top - 9, 9, height + 18))).isEmpty()


def test_nothing_is_painted_far_away_and_blank_tiles_are_left_out():
    assert list(places(QRect(FARTHEST + 1, 0, 10, 10))) == []
    assert rect_of((-1, 2)) == QRect(-256, 512, 256, 256)
    image = QImage(600, 10, LAYOUT)
    image.fill(0)
    image.setPixelColor(599, 0, QColor("red"))
    assert set(tiles_of(image)) == {(2, 0)}
    store = TileStore()
    assert store.content().isEmpty()
    before = store.put(tiles_of(image))
    store.put(before)
    assert store.bounds().isEmpty() and not store.all()
