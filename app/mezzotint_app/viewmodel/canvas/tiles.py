"""Sparse pixels without bounds: tiles that exist only where something was painted."""

from collections.abc import Callable, Iterable, Iterator, Mapping

from PySide6.QtCore import QRect
from PySide6.QtGui import QImage, QPainter

SIDE = 256  # pixels of a tile
LAYOUT = QImage.Format.Format_ARGB32_Premultiplied
FARTHEST = 1 << 20  # pixels from the origin; beyond it nothing is painted
_BLANK = bytes(SIDE * SIDE * 4)

Place = tuple[int, int]  # column and row of a tile
Changed = dict[Place, QImage | None]  # None: no tile
Source = QPainter.CompositionMode.CompositionMode_Source


def places(where: QRect) -> Iterator[Place]:
    """Yield the places of the tiles that a rectangle touches, row by row."""
    where = where.intersected(QRect(-FARTHEST, -FARTHEST, 2 * FARTHEST, 2 * FARTHEST))
    if not where.isEmpty():
        for row in range(where.top() // SIDE, where.bottom() // SIDE + 1):
            for column in range(where.left() // SIDE, where.right() // SIDE + 1):
                yield column, row


def rect_of(place: Place) -> QRect:
    """Return the rectangle of a tile."""
    return QRect(place[0] * SIDE, place[1] * SIDE, SIDE, SIDE)


def new_tile() -> QImage:
    """Return a transparent tile."""
    return blank(SIDE, SIDE)


def blank(width: int, height: int) -> QImage:
    """Return a transparent image."""
    image = QImage(width, height, LAYOUT)
    image.fill(0)
    return image


def is_blank(tile: QImage) -> bool:
    """Whether a tile is transparent everywhere."""
    return bytes(tile.constBits()) == _BLANK


class TileStore:
    """The tiles of a layer. A tile is never changed in place: whoever holds one, such as the history, may keep it."""

    def __init__(self) -> None:
        self._tiles: dict[Place, QImage] = {}
        self._bounds: QRect | None = None  # once known, like the next
        self._content: QRect | None = None

    def get(self, place: Place) -> QImage | None:
        """Return a tile, or None where nothing was painted."""
        return self._tiles.get(place)

    def all(self) -> Mapping[Place, QImage]:
        """Return all tiles."""
        return self._tiles

    def bounds(self) -> QRect:
        """Return the rectangle around all tiles; empty without any."""
        if self._bounds is None:
            self._bounds = bounds_of(self._tiles)
        return QRect(self._bounds)

    def content(self) -> QRect:
        """Return the smallest rectangle around everything that is not transparent."""
        if self._content is None:
            self._content = self._around_content()
        return QRect(self._content)

    def _around_content(self) -> QRect:
        whole, edges = QRect(), self.bounds()
        for place, tile in self._tiles.items():
            where = rect_of(place)
            if not edges.adjusted(1, 1, -1, -1).contains(where):  # no tile is blank: those at the edges decide
                whole = whole.united(opaque_rect(tile).translated(where.topLeft()))
        return whole

    def put(self, tiles: Changed) -> Changed:
        """Replace tiles; returns what was there, which undoes it."""
        before: Changed = {place: self._tiles.get(place) for place in tiles}
        self._content = None
        for place, tile in tiles.items():
            if tile is None:
                self._tiles.pop(place, None)
            else:
                self._tiles[place] = tile
        if any((old is None) != (tiles[place] is None) for place, old in before.items()):
            self._bounds = None
        return before

    def draw(self, painter: QPainter, where: QRect) -> None:
        """Draw the tiles that touch `where`, in the store's coordinates."""
        for place in places(where.intersected(self.bounds())) if self._tiles else ():
            tile = self._tiles.get(place)
            if tile is not None:
                painter.drawImage(place[0] * SIDE, place[1] * SIDE, tile)

    def read(self, where: QRect) -> QImage:
        """Return the pixels of a rectangle."""
        image = blank(where.width(), where.height())
        painter = QPainter(image)
        painter.translate(-where.topLeft())
        self.draw(painter, where)
        painter.end()
        return image

    def painted(self, where: QRect, paint: Callable[[QPainter], None]) -> Changed:
        """Return the tiles in `where` as they are after painting, for `put`; tiles that become blank are None."""
        result: Changed = {}
        for place in places(where):
            old = self._tiles.get(place)
            tile = new_tile() if old is None else QImage(old)
            painter = QPainter(tile)  # which copies the shared pixels
            painter.translate(-place[0] * SIDE, -place[1] * SIDE)
            painter.setClipRect(where)
            paint(painter)
            painter.end()
            result[place] = None if is_blank(tile) else tile
        return {place: tile for place, tile in result.items() if tile is not None or place in self._tiles}


def opaque_rect(image: QImage) -> QRect:
    """Return the smallest rectangle around the pixels that are not transparent; empty if all are."""
    alpha = image.convertToFormat(QImage.Format.Format_Alpha8)
    line, width = alpha.bytesPerLine(), alpha.width()
    data = bytes(alpha.constBits())
    rows = [row for n in range(alpha.height()) if any(row := data[n * line : n * line + width])]
    if not rows:
        return QRect()
    top = next(n for n in range(alpha.height()) if any(data[n * line : n * line + width]))
    bottom = next(n for n in reversed(range(alpha.height())) if any(data[n * line : n * line + width]))
    left = min(width - len(row.lstrip(b"\0")) for row in rows)
    right = max(len(row.rstrip(b"\0")) for row in rows)
    return QRect(left, top, right - left, bottom - top + 1)


def bounds_of(tiles: Iterable[Place]) -> QRect:
    """Return the rectangle around tiles."""
    found = list(tiles)
    if not found:
        return QRect()
    left, right = min(column for column, _ in found), max(column for column, _ in found)
    top, bottom = min(row for _, row in found), max(row for _, row in found)
    return QRect(left * SIDE, top * SIDE, (right - left + 1) * SIDE, (bottom - top + 1) * SIDE)


def tiles_of(image: QImage, left: int = 0, top: int = 0) -> Changed:
    """Cut an image whose upper left corner is at (left, top) into tiles; blank ones are left out."""
    image = image.convertToFormat(LAYOUT)
    image.setDevicePixelRatio(1.0)
    store = TileStore()

    def draw(painter: QPainter) -> None:
        painter.setCompositionMode(Source)
        painter.drawImage(left, top, image)

    return store.painted(QRect(left, top, image.width(), image.height()), draw)
