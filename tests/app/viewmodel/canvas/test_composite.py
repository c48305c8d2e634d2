"""Tiles of every level show what the document does, and are built within a budget of time."""

from itertools import count

from skip_rules import skip_module_without

skip_module_without("PySide6")

from PySide6.QtCore import QRect, QRectF  # noqa: E402
from PySide6.QtGui import QColor, QImage, QPainterPath  # noqa: E402

from mezzotint_app.viewmodel.canvas import composite as module  # noqa: E402
from mezzotint_app.viewmodel.canvas.composite import Composite, tiles_in  # noqa: E402
from mezzotint_app.viewmodel.canvas.document import CanvasDocument  # noqa: E402

WHOLE = QRect(0, 0, 1024, 1024)


def made(side=1024):
    document, image = CanvasDocument(), QImage(side, side, QImage.Format.Format_RGB32)
    image.fill(QColor(0, 90, 0))
    document.add_layer("image", "", image)
    return document


def colour(composite, level, x, y):
    tile = composite.get(level, (x // 256, y // 256))
    return None if tile is None else tile.pixelColor(x % 256, y % 256).getRgb()


def paint(document, where, shade):
    path = QPainterPath()
    path.addRect(QRectF(where))
    document.fill_path(path, QColor(shade))


def test_each_level_follows_the_document():
    document = made()
    composite = Composite(document)
    for level in (0, 1, 2, 3):
        assert composite.build(level, tiles_in(level, WHOLE), 9.0)
        assert colour(composite, level, 5, 5) == (0, 90, 0, 255)
    paint(document, QRect(0, 0, 64, 64), "red")
    assert colour(composite, 3, 4, 4) == (0, 90, 0, 255), "the old is shown until there is something new"
    kept = composite.get(0, (2, 2)).cacheKey()
    assert composite.build(3, [(0, 0)], 9.0)
    assert colour(composite, 3, 4, 4) == (255, 0, 0, 255)
    assert composite.build(0, [(2, 2)], 9.0) and composite.get(0, (2, 2)).cacheKey() == kept
    document.add_layer("mask", "")
    paint(document, QRect(500, 500, 64, 64), "white")
    composite.build(0, [(2, 2), (9, 9)], 9.0)
    tinted = {colour(composite, 0, 520 + across, 520)[:2] for across in range(10)}
    assert (107, 65) in tinted and len(tinted) == 2, "a mask is a tint with stripes"
    assert composite.get(0, (9, 9)) is None
    document.change_layer(document.active().id, visible=False)
    composite.build(0, [(2, 2)], 9.0)
    assert colour(composite, 0, 520, 520) == (0, 90, 0, 255)


def test_time_and_memory_are_bounded(monkeypatch):
    monkeypatch.setattr(module, "MOST_TILES", 8)
    composite = Composite(made(), now=count(step=0.4).__next__)  # each look at the clock takes long
    wanted, rounds = tiles_in(2, WHOLE), 0
    while not composite.build(2, wanted, 1.5) and rounds < 50:
        rounds += 1
    assert 1 <= rounds < 50
    assert composite.get(2, (0, 0)) is not None
    assert composite.build(0, tiles_in(0, WHOLE), 99) and len(composite._tiles) == 8
