"""Brush strokes: dabs along a path, whose size follows the pressure of a pen."""

import math
from dataclasses import dataclass, replace

from PySide6.QtCore import QPoint, QPointF, QRect, QRectF, Qt
from PySide6.QtGui import QColor, QImage, QPainter, QPainterPath, QRadialGradient

from mezzotint_app.viewmodel.canvas.brush import Brush
from mezzotint_app.viewmodel.canvas.tiles import (
    LAYOUT,
    SIDE,
    Changed,
    Place,
    Source,
    TileStore,
    is_blank,
    new_tile,
    places,
)

_SPACING = 0.15  # of a dab's diameter
_THINNEST = 0.1  # share of the size that is left without pressure
Modes = QPainter.CompositionMode


@dataclass(frozen=True, slots=True, kw_only=True)
class Paint:
    """A brush with its colour."""

    brush: Brush
    colour: QColor
    opacity: float = 1.0


@dataclass(frozen=True, slots=True)
class Dab:
    """One touch of the brush, in a layer's pixels."""

    x: float
    y: float
    pressure: float = 1.0  # 0 to 1


class Stroke:
    """A path from pressing to releasing. Where it crosses itself it gets no stronger: opacity is that of the whole."""

    def __init__(self, paint: Paint, store: TileStore, clip: QPainterPath | None = None) -> None:
        """`clip`: the only part that is painted, in the layer's pixels."""
        self._paint, self._store, self._clip = paint, store, clip
        self._last: Dab | None = None
        self._coverage: dict[Place, QImage] = {}
        self._full: set[Place] = set()  # covered by one dab: nothing changes there any more
        self.before: Changed = {}  # tiles as they were, which undoes the stroke

    def to(self, dab: Dab) -> QRect:
        """Continue the path, painting into the store; returns the changed rectangle."""
        last = self._last
        dabs = [dab] if last is None else _between(last, dab, 2 * self._radius(dab) * _SPACING)
        if not dabs:
            return QRect()
        self._last = dabs[-1]
        touched: dict[Place, list[Dab]] = {}
        whole = QRect()
        for one in dabs:
            where = self._rect(one)
            if self._clip is not None:
                where = where.intersected(self._clip.boundingRect().toAlignedRect())
            whole = whole.united(where)
            for place in places(where):
                touched.setdefault(place, []).append(one)
        for place, many in touched.items():
            if place not in self._full:
                self._paint_tile(place, many)
        return whole

    def _radius(self, dab: Dab) -> float:
        share = _THINNEST + (1 - _THINNEST) * min(max(dab.pressure, 0.0), 1.0)
        return max(self._paint.brush.radius() * share, 0.5)

    def _rect(self, dab: Dab) -> QRect:
        reach = self._radius(dab) + 1
        return QRectF(dab.x - reach, dab.y - reach, 2 * reach, 2 * reach).toAlignedRect()

    def _paint_tile(self, place: Place, dabs: list[Dab]) -> None:
        coverage = self._coverage.get(place)
        if coverage is None:
            coverage = self._coverage[place] = QImage(SIDE, SIDE, QImage.Format.Format_Grayscale8)
            coverage.fill(0)
            self.before[place] = self._store.get(place)
        touched = QRect()
        painter = QPainter(coverage)
        painter.setCompositionMode(Modes.CompositionMode_Lighten)
        painter.translate(-place[0] * SIDE, -place[1] * SIDE)
        if self._clip is not None:
            painter.setClipPath(self._clip)
        for dab in dabs:
            touched = touched.united(self._rect(dab))
            painter.fillRect(self._rect(dab), self._gradient(dab))
            if self._covers(dab, place):
                self._full.add(place)
        painter.end()
        touched = touched.translated(-place[0] * SIDE, -place[1] * SIDE).intersected(coverage.rect())
        tile = self._over(place, coverage, touched)
        self._store.put({place: None if self._paint.brush.erase and is_blank(tile) else tile})

    def _covers(self, dab: Dab, place: Place) -> bool:
        """Whether the part of a dab at full strength covers the whole tile."""
        left, top, radius = place[0] * SIDE, place[1] * SIDE, self._radius(dab)
        across = max(dab.x - left, left + SIDE - dab.x)
        down = max(dab.y - top, top + SIDE - dab.y)
        return math.hypot(across, down) < radius * replace(self._paint.brush, size=2 * radius).core()

    def _gradient(self, dab: Dab) -> QRadialGradient:
        radius = self._radius(dab)
        core = replace(self._paint.brush, size=2 * radius).core()
        gradient = QRadialGradient(QPointF(dab.x, dab.y), radius)
        for at, grey in ((0.0, 255), (core, 255), (1.0, 0)):
            gradient.setColorAt(at, QColor(grey, grey, grey))
        return gradient

    def _over(self, place: Place, coverage: QImage, where: QRect) -> QImage:
        """The tile with the stroke over what was there before it; only `where` is computed anew."""
        now, before = self._store.get(place), self.before[place]
        tile = new_tile() if now is None else QImage(now)
        painter = QPainter(tile)
        painter.setCompositionMode(Source)
        if before is None:
            painter.fillRect(where, Qt.GlobalColor.transparent)
        else:
            painter.drawImage(where.topLeft(), before, where)
        erase = self._paint.brush.erase
        painter.setCompositionMode(Modes.CompositionMode_DestinationOut if erase else Modes.CompositionMode_SourceOver)
        painter.setOpacity(self._paint.opacity)
        painter.drawImage(where.topLeft(), _coloured(coverage, where, self._paint.colour))
        painter.end()
        return tile


def _coloured(coverage: QImage, where: QRect, colour: QColor) -> QImage:
    """Return a colour whose alpha is a part of a grayscale tile."""
    alpha = QImage(coverage.constBits(), SIDE, SIDE, coverage.bytesPerLine(), QImage.Format.Format_Alpha8)
    image = QImage(where.size(), LAYOUT)
    painter = QPainter(image)
    painter.setCompositionMode(Source)
    painter.drawImage(QPoint(), alpha, where)
    painter.setCompositionMode(Modes.CompositionMode_SourceIn)
    painter.fillRect(image.rect(), colour)
    painter.end()
    return image


def _between(last: Dab, dab: Dab, step: float) -> list[Dab]:
    """Return the dabs after `last` on the way to `dab`, at equal distances."""
    length = math.hypot(dab.x - last.x, dab.y - last.y)
    count = math.floor(length / max(step, 1.0))
    share = max(step, 1.0) / length if length else 0.0

    def at(part: float) -> Dab:
        return Dab(
            last.x + (dab.x - last.x) * part,
            last.y + (dab.y - last.y) * part,
            last.pressure + (dab.pressure - last.pressure) * part,
        )

    return [at(number * share) for number in range(1, count + 1)]
