"""A simple scatter chart of labelled points, as PNG."""

import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from mezzotint.atomic import atomic_write

_WIDTH, _HEIGHT, _LEFT, _BELOW, _MARGIN = 920, 560, 70, 56, 40  # pixels
_TICKS = 5
_INK, _FAINT = "#26221d", "#d9d5cd"
_COLORS = ("#8c3b2e", "#2e5f8c", "#4c7a34", "#7a5a9c")
_DOT = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """A labelled point; points of a group share a colour."""

    group: str
    label: str
    x: float
    y: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ScatterChart:
    """The content of a chart; both axes begin at 0, and with `diagonal` they end at the same value."""

    title: str
    x_name: str
    y_name: str
    points: Sequence[Point]
    diagonal: bool = False


def draw_scatter(chart: ScatterChart, path: Path) -> None:
    """Write the chart, overwriting the file; raises StorageError if that fails."""
    from PIL import Image, ImageDraw, ImageFont

    image = Image.new("RGB", (_WIDTH, _HEIGHT), "white")
    pen = ImageDraw.Draw(image)
    font = ImageFont.load_default(12)
    right, top = (1.1 * max((getattr(point, axis) for point in chart.points), default=1.0) or 1.0 for axis in "xy")
    if chart.diagonal:
        right = top = max(right, top)
    floor, ceiling = _HEIGHT - _BELOW, _MARGIN + 10

    def place(x: float, y: float) -> tuple[float, float]:
        return _LEFT + (_WIDTH - _LEFT - _MARGIN) * x / right, floor - (floor - ceiling) * y / top

    for tick in range(_TICKS + 1):
        x, y = right * tick / _TICKS, top * tick / _TICKS
        pen.line((place(0, y), place(right, y)), fill=_FAINT)
        pen.text((_LEFT - 8, place(0, y)[1]), f"{y:.3g}", fill=_INK, font=font, anchor="rm")
        pen.text((place(x, 0)[0], floor + 8), f"{x:.3g}", fill=_INK, font=font, anchor="mt")
    if chart.diagonal:
        pen.line((place(0, 0), place(right, top)), fill=_INK)
    pen.text((_MARGIN / 2, 12), f"{chart.title}: {chart.y_name}", fill=_INK, font=font, stroke_width=0.3)
    pen.text((_WIDTH - _MARGIN, _HEIGHT - 18), chart.x_name, fill=_INK, font=font, anchor="rm")
    groups = list(dict.fromkeys(point.group for point in chart.points))
    for number, group in enumerate(groups):
        pen.text((_WIDTH - _MARGIN, 20 + 16 * number), group, fill=_color(groups, group), font=font, anchor="rm")
    for point in chart.points:
        x, y = place(point.x, point.y)
        color = _color(groups, point.group)
        pen.ellipse((x - _DOT, y - _DOT, x + _DOT, y + _DOT), fill=color)
        pen.text((x + 2 * _DOT, y), point.label, fill=color, font=font, anchor="lm")
    file = io.BytesIO()
    image.save(file, "PNG")
    atomic_write(path, file.getvalue(), overwrite=True)


def _color(groups: Sequence[str], group: str) -> str:
    return _COLORS[groups.index(group) % len(_COLORS)]
