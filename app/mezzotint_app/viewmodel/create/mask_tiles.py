"""Parts of a mask that are kept, so that they can be put back."""

from PySide6.QtCore import QRect
from PySide6.QtGui import QImage, QPainter

SIDE = 128  # pixels of a tile

Tiles = dict[tuple[int, int], QImage]  # left and top to what was there


def taken(image: QImage, where: QRect, kept: Tiles) -> Tiles:
    """The tiles that are kept, and those of a part of the image that are not kept yet."""
    tiles = dict(kept)
    for top in range(where.top() // SIDE * SIDE, where.bottom() + 1, SIDE):
        for left in range(where.left() // SIDE * SIDE, where.right() + 1, SIDE):
            if (left, top) not in tiles:
                tiles[left, top] = image.copy(QRect(left, top, SIDE, SIDE).intersected(image.rect()))
    return tiles


def put_back(image: QImage, tiles: Tiles) -> QRect:
    """Every tile to its place; returns the part of the image that holds them all."""
    touched = QRect()
    painter = QPainter(image)
    painter.setCompositionMode(QPainter.CompositionMode.CompositionMode_Source)
    for (left, top), tile in tiles.items():
        painter.drawImage(left, top, tile)
        touched = touched.united(QRect(left, top, tile.width(), tile.height()))
    painter.end()
    return touched
