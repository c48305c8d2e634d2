"""A brush stroke on a mask: dabs along a line, combined by maximum, or by minimum when erasing."""

import math
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRect, QRectF
from PySide6.QtGui import QColor, QImage, QPainter, QRadialGradient

SMALLEST, LARGEST = 2.0, 1024.0  # pixels of the mask, brush diameter
_SPACING = 0.1  # of the brush size; the edge is then even to about 1%

Point = tuple[float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Brush:
    """Brush settings."""

    size: float = 64.0  # pixels of the mask, diameter
    hardness: float = 0.8  # 0: soft from the center on; 1: a sharp edge
    erase: bool = False

    def radius(self) -> float:
        """Return the radius, within the limits."""
        return min(max(self.size, SMALLEST), LARGEST) / 2

    def core(self) -> float:
        """Return the fraction of the radius painted at full strength, leaving a pixel for antialiasing."""
        return max(min(self.hardness, 1 - 1 / self.radius()), 0.0)


class Stroke:
    """The brush's path, from pressing to releasing."""

    def __init__(self, brush: Brush) -> None:
        self._brush = brush
        self._last: Point = (0.0, 0.0)  # last painted dab
        self._at: Point = (0.0, 0.0)  # current brush position

    def down(self, x: float, y: float) -> list[Point]:
        """Start the stroke; returns its dabs."""
        self._last = self._at = (x, y)
        return [(x, y)]

    def to(self, x: float, y: float, page: QRect) -> list[Point]:
        """Move the brush; returns the new dabs that touch the page."""
        self._at = (x, y)
        start_x, start_y = self._last
        length = math.hypot(x - start_x, y - start_y)
        step = max(2 * self._brush.radius() * _SPACING, 1.0)
        count = math.floor(length / step)
        if count < 1:
            return []
        across, down = (x - start_x) / length * step, (y - start_y) / length * step
        self._last = (start_x + count * across, start_y + count * down)
        first, last = _touching(self._brush.radius() + 1, page, (start_x, start_y), (across, down), count)
        return [(start_x + number * across, start_y + number * down) for number in range(first, last + 1)]

    def up(self) -> list[Point]:
        """End the stroke; returns its last dab."""
        return [] if self._at == self._last else [self._at]

    def touched(self, dabs: list[Point]) -> QRect:
        """Return the pixels that the dabs may change."""
        reach = self._brush.radius() + 1
        left, right = min(x for x, _ in dabs) - reach, max(x for x, _ in dabs) + reach
        top, bottom = min(y for _, y in dabs) - reach, max(y for _, y in dabs) + reach
        return _bounded(QRectF(left, top, right - left, bottom - top))

    def paint(self, image: QImage, dabs: list[Point]) -> None:
        """Paint dabs; only the pixels around them are accessed."""
        modes = QPainter.CompositionMode
        painter = QPainter(image)
        painter.setCompositionMode(modes.CompositionMode_Darken if self._brush.erase else modes.CompositionMode_Lighten)
        radius = self._brush.radius()
        for x, y in dabs:
            where = QRectF(x - radius, y - radius, 2 * radius, 2 * radius)
            painter.fillRect(_bounded(where), self._colours(x, y))
        painter.end()

    def _colours(self, x: float, y: float) -> QRadialGradient:
        inner, outer = (0, 255) if self._brush.erase else (255, 0)
        colours = QRadialGradient(QPointF(x, y), self._brush.radius())
        colours.setColorAt(0, QColor(inner, inner, inner))
        colours.setColorAt(self._brush.core(), QColor(inner, inner, inner))
        colours.setColorAt(1, QColor(outer, outer, outer))
        return colours


def _touching(reach: float, page: QRect, start: Point, step: Point, count: int) -> tuple[int, int]:
    """Return the first and last of `count` dabs on a line that can touch the page; if none, last < first."""
    first, last = 1.0, float(count)
    limits = ((page.left(), page.right() + 1), (page.top(), page.bottom() + 1))
    for at, by, (low, high) in zip(start, step, limits, strict=True):
        if by == 0:
            if not low - reach <= at <= high + reach:
                return 1, 0
            continue
        ends = sorted(((low - reach - at) / by, (high + reach - at) / by))
        first, last = max(first, ends[0]), min(last, ends[1])
    return (math.ceil(first), math.floor(last)) if first <= last else (1, 0)


def _bounded(where: QRectF) -> QRect:
    """Round outwards to whole pixels, clamped to values that fit integers."""
    far = 1 << 20
    left, top = max(math.floor(where.left()), -far), max(math.floor(where.top()), -far)
    right, bottom = min(math.ceil(where.right()), far), min(math.ceil(where.bottom()), far)
    return QRect(left, top, max(right - left, 0), max(bottom - top, 0))
