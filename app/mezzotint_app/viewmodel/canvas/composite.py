"""What is displayed: all layers over each other, in tiles of halved sizes, built as they are needed."""

import time
from collections import OrderedDict
from collections.abc import Callable, Iterable

from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QImage, QPainter

from mezzotint_app.viewmodel.canvas.document import CanvasDocument
from mezzotint_app.viewmodel.canvas.layers import draw_layer
from mezzotint_app.viewmodel.canvas.tiles import SIDE, Place, Source, is_blank, new_tile, places, rect_of

LEVELS = 8  # the last one shows the canvas at 1/128 of its size
MOST_TILES = 768  # kept at once, 192 MiB
_HALF = SIDE // 2


class Composite:
    """Tiles of the picture at a level, each level half the size of the one below; the least used ones are dropped."""

    def __init__(self, document: CanvasDocument, now: Callable[[], float] = time.perf_counter) -> None:
        self._document, self._now = document, now
        self._tiles: OrderedDict[tuple[int, Place], QImage | None] = OrderedDict()
        self._stale: set[tuple[int, Place]] = set()
        document.changed.connect(self.invalidate)

    def invalidate(self, where: QRect) -> None:
        """Build the tiles that show this part of the document anew; the old ones are shown until then."""
        self._stale.update(key for key in self._tiles if _part(*key).intersects(where))

    def get(self, level: int, place: Place) -> QImage | None:
        """Return a tile if it has been built and shows anything."""
        key = level, place
        tile = self._tiles.get(key)
        if tile is not None:
            self._tiles.move_to_end(key)
        return tile

    def build(self, level: int, wanted: Iterable[Place], seconds: float) -> bool:
        """Build missing tiles for at most about `seconds`; returns whether all are there."""
        end = self._now() + seconds
        missing = [place for place in wanted if not self._build(level, place, end)]
        return not missing

    def _build(self, level: int, place: Place, end: float) -> bool:
        if (level, place) in self._tiles and (level, place) not in self._stale:
            self._tiles.move_to_end((level, place))  # wanted still: others go first
            return True
        if self._now() > end:
            return False
        if not _part(level, place).intersects(self._document.bounds()):
            self._keep(level, place, None)
            return True
        if level == 0:
            self._keep(level, place, self._flat(place))
            return True
        children = [(2 * place[0] + across, 2 * place[1] + down) for down in (0, 1) for across in (0, 1)]
        if level == 1:  # of full size, only what is shown is kept
            self._keep(level, place, self._halved([self._flat(child) for child in children]))
            return True
        if not all(self._build(level - 1, child, end) for child in children):
            return False
        self._keep(level, place, self._halved([self._tiles.get((level - 1, child)) for child in children]))
        return True

    def _flat(self, place: Place) -> QImage | None:
        """All layers over each other; a single opaque one shares its tile."""
        where, document = rect_of(place), self._document
        shown = [one for one in document.layers() if one.visible]
        seen = [one for one in shown if where.intersects(document.store(one.id).bounds().translated(one.x, one.y))]
        if len(seen) == 1 and seen[0].kind != "mask" and (seen[0].x, seen[0].y, seen[0].opacity) == (0, 0, 1.0):
            return document.store(seen[0].id).get(place)
        tile = new_tile()
        painter = QPainter(tile)
        painter.translate(-where.topLeft())
        for layer in seen:
            draw_layer(painter, layer, document.store(layer.id), where)
        painter.end()
        return None if is_blank(tile) else tile

    def _halved(self, children: list[QImage | None]) -> QImage | None:
        if all(child is None for child in children):
            return None
        tile = new_tile()
        painter = QPainter(tile)
        painter.setCompositionMode(Source)
        for number, child in enumerate(children):
            if child is not None:
                half = child.scaled(
                    _HALF, _HALF, Qt.AspectRatioMode.IgnoreAspectRatio, Qt.TransformationMode.SmoothTransformation
                )
                painter.drawImage(number % 2 * _HALF, number // 2 * _HALF, half)
        painter.end()
        return tile

    def _keep(self, level: int, place: Place, tile: QImage | None) -> None:
        self._tiles[level, place] = tile
        self._stale.discard((level, place))
        self._tiles.move_to_end((level, place))
        while len(self._tiles) > MOST_TILES:
            self._stale.discard(self._tiles.popitem(last=False)[0])


def tiles_in(level: int, where: QRect) -> list[Place]:
    """Return the places of a level's tiles that show a rectangle of the document."""
    factor = 1 << level
    left, top = where.left() // factor, where.top() // factor
    right, bottom = where.right() // factor, where.bottom() // factor
    return list(places(QRect(left, top, right - left + 1, bottom - top + 1)))


def _part(level: int, place: Place) -> QRect:
    """The part of the document that a tile shows."""
    side = SIDE << level
    return QRect(place[0] * side, place[1] * side, side, side)
