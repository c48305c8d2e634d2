"""A simple grouped bar chart, as SVG or PNG."""

import io
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import escape

from mezzotint.atomic import atomic_write

_WIDTH, _MARGIN, _LABELS, _FIGURES = 920, 20, 170, 80  # pixels
_ROW, _BAR, _TITLE = 20, 14, 34
_PLAIN, _STRONG, _INK = "#b9b4ab", "#8c3b2e", "#26221d"


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """One bar; bars of a group are drawn together under its name."""

    group: str
    label: str
    value: float
    strong: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class BarChart:
    """The content of a chart."""

    title: str
    unit: str
    bars: tuple[Bar, ...]


@dataclass(frozen=True, slots=True)
class _Rectangle:
    x: float
    y: float
    width: float
    height: float
    color: str


@dataclass(frozen=True, slots=True)
class _Words:
    x: float
    y: float  # vertical centre of the line
    text: str
    bold: bool = False


def draw(chart: BarChart, path: Path) -> None:
    """Write the chart in the format of the suffix, overwriting the file; raises StorageError if that fails."""
    marks = list(_layout(chart))
    height = round(max(mark.y for mark in marks) + _ROW)
    data = _svg(marks, height) if path.suffix.lower() == ".svg" else _png(marks, height)
    atomic_write(path, data, overwrite=True)


def _layout(chart: BarChart) -> Iterator[_Rectangle | _Words]:
    """Lay out each group's name, then its bars: label, bar, value."""
    yield _Words(_MARGIN, _TITLE / 2, f"{chart.title} ({chart.unit})", bold=True)
    y, group = float(_TITLE), None
    longest = max((bar.value for bar in chart.bars), default=0.0) or 1.0
    room = _WIDTH - 2 * _MARGIN - _LABELS - _FIGURES
    for bar in chart.bars:
        if bar.group != group:
            group = bar.group
            y += _ROW / 2
            yield _Words(_MARGIN, y + _ROW / 2, group, bold=True)
            y += _ROW
        width = room * bar.value / longest
        left = _MARGIN + _LABELS
        yield _Words(_MARGIN + 8, y + _ROW / 2, bar.label)
        yield _Rectangle(left, y + (_ROW - _BAR) / 2, width, _BAR, _STRONG if bar.strong else _PLAIN)
        yield _Words(left + width + 6, y + _ROW / 2, f"{bar.value:.3g}")
        y += _ROW


def _svg(marks: list[_Rectangle | _Words], height: int) -> bytes:
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{height}" '
        f'font-family="sans-serif" font-size="12" fill="{_INK}">',
        f'<rect width="{_WIDTH}" height="{height}" fill="white"/>',
    ]
    for mark in marks:
        if isinstance(mark, _Rectangle):
            lines.append(
                f'<rect x="{mark.x:g}" y="{mark.y:g}" width="{mark.width:.2f}" height="{mark.height:g}" '
                f'fill="{mark.color}"/>'
            )
        else:
            weight = ' font-weight="bold"' if mark.bold else ""
            lines.append(
                f'<text x="{mark.x:.2f}" y="{mark.y:g}" dominant-baseline="central"{weight}>{escape(mark.text)}</text>'
            )
    return "\n".join([*lines, "</svg>", ""]).encode("utf-8")


def _png(marks: list[_Rectangle | _Words], height: int) -> bytes:
    from PIL import Image, ImageDraw, ImageFont

    image = Image.new("RGB", (_WIDTH, height), "white")
    pen = ImageDraw.Draw(image)
    font = ImageFont.load_default(12)
    for mark in marks:
        if isinstance(mark, _Rectangle):
            pen.rectangle((mark.x, mark.y, mark.x + mark.width, mark.y + mark.height), fill=mark.color)
        else:
            pen.text(
                (mark.x, mark.y), mark.text, fill=_INK, font=font, anchor="lm", stroke_width=0.3 if mark.bold else 0
            )
    file = io.BytesIO()
    image.save(file, "PNG")
    return file.getvalue()
