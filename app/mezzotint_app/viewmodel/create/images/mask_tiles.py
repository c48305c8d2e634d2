"""Tiles of a mask saved for undo."""

from PySide6.QtCore import QRect
from PySide6.QtGui import QImage, QPainter

SIDE = 128  # pixels of a tile

Tiles = dict[tuple[int, int], QImage]  # (left, top) -> previous content


def taken(image: QImage, where: QRect, kept: Tiles) -> Tiles:
    """Return `kept` with the missing tiles of a part of the image added."""
    tiles = dict(kept)
    for top in range(where.top() // SIDE * SIDE, where.bottom() + 1, SIDE):
        for left in range(where.left() // SIDE * SIDE, where.right() + 1, SIDE):
            if (left, top) not in tiles:
                tiles[left, top] = image.copy(QRect(left, top, SIDE, SIDE).intersected(image.rect()))
    return tiles


def put_back(image: QImage, tiles: Tiles) -> QRect:
    """Restore all tiles; returns the bounding rectangle."""
    touched = QRect()
    painter = QPainter(image)
    painter.setCompositionMode(QPainter.CompositionMode.CompositionMode_Source)
    for (left, top), tile in tiles.items():
        painter.drawImage(left, top, tile)
        touched = touched.united(QRect(left, top, tile.width(), tile.height()))
    painter.end()
    return touched
