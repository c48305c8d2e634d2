"""Flood fill: the connected area of similar colour around a point."""

from PySide6.QtCore import QPoint
from PySide6.QtGui import QColor, QImage

from mezzotint_app.viewmodel.canvas.tiles import LAYOUT, blank

_NOT = bytes([1, 0]) + bytes(254)
Run = tuple[int, int]  # first column, and the one after the last


def flooded(picture: QImage, at: QPoint, tolerance: int, colour: QColor) -> QImage:
    """Return an image of the same size with `colour` wherever `picture` is like its pixel `at`, and connected to it.

    `tolerance` is the largest difference of a channel, 0 to 255.
    """
    width, height = picture.width(), picture.height()
    rows = _similar(picture, at, tolerance)
    filled = blank(width, height)
    line = memoryview(filled.bits())
    pixel = _premultiplied(colour)
    waiting = [(at.y(), at.x(), at.x() + 1)]
    while waiting:
        row, first, end = waiting.pop()
        for left, right in _runs(rows[row], first, end):
            rows[row][left:right] = bytes(right - left)  # visited
            start = row * filled.bytesPerLine() + 4 * left
            line[start : start + 4 * (right - left)] = pixel * (right - left)
            waiting += [(beside, left, right) for beside in (row - 1, row + 1) if 0 <= beside < height]
    return filled


def _runs(row: bytearray, first: int, end: int) -> list[Run]:
    """Return the runs of ones that touch columns `first` to `end`, whole."""
    found, at = [], row.find(1, first, end)
    while at >= 0:
        left, right = row.rfind(0, 0, at) + 1, row.find(0, at)
        right = len(row) if right < 0 else right
        found.append((left, right))
        at = row.find(1, right, end) if right < end else -1
    return found


def _similar(picture: QImage, at: QPoint, tolerance: int) -> list[bytearray]:
    """Return a row of ones and zeros for each row of pixels."""
    image = picture.convertToFormat(LAYOUT)
    line, used = image.bytesPerLine(), 4 * image.width()
    data = bytes(image.constBits())
    start = at.y() * line + 4 * at.x()
    tables = [bytes(abs(value - like) > tolerance for value in range(256)) for like in data[start : start + 4]]
    rows = (data[row * line : row * line + used] for row in range(image.height()))
    return [_alike([row[channel::4].translate(table) for channel, table in enumerate(tables)]) for row in rows]


def _alike(channels: list[bytes]) -> bytearray:
    """Return ones where all channels have zeros."""
    differs = 0
    for channel in channels:
        differs |= int.from_bytes(channel, "little")
    return bytearray(differs.to_bytes(len(channels[0]), "little").translate(_NOT))


def _premultiplied(colour: QColor) -> bytes:
    one = QImage(1, 1, LAYOUT)
    one.fill(colour)
    return bytes(one.constBits())[:4]
