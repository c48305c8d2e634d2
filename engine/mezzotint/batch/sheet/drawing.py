"""Draw a grid as one image of bounded size."""

import math
from collections.abc import Callable
from functools import partial
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

from mezzotint.batch.sheet.cells import Axis, Grid, Place
from mezzotint.errors import ImageRefused
from mezzotint.images.reading import open_image, read_image, upright_size

MAX_SHEET_PIXELS = 32_000_000
MAX_SHEET_SIDE = 16_000
_SMALLEST, _LARGEST = 12, 40  # pixels of the font
_GAP, _LINES = 4, 3
_PAPER, _INK, _EMPTY = "white", "#202020", "#e4e4e4"
_LONGEST = 400  # characters of a label

Font = ImageFont.FreeTypeFont | ImageFont.ImageFont
Size = tuple[int, int]


def draw_sheet(grid: Grid, folder: Path, cancelled: Callable[[], bool] = lambda: False) -> Image.Image:
    """The images of a grid, read one by one and scaled to fit, with labels above and to the left."""
    size = _fitted(grid, _largest(grid, folder))
    font = ImageFont.load_default(max(_SMALLEST, min(_LARGEST, size[1] // 14)))
    layout = _Layout(grid.axes, size, font)
    sheet = Image.new("RGB", layout.whole, _PAPER)
    pen = ImageDraw.Draw(sheet)
    layout.write_labels(pen)
    for place in layout.places():
        if cancelled():
            break
        box = layout.box(place)
        image = _read(folder, grid.files.get(place), size)
        if image is None:
            pen.rectangle(box, fill=_EMPTY)
        else:
            sheet.paste(image, (box[0] + (size[0] - image.width) // 2, box[1] + (size[1] - image.height) // 2))
    return sheet


def _largest(grid: Grid, folder: Path) -> Size:
    """Width and height that every image fits into."""
    sizes = [size for size in map(partial(_size_of, folder), grid.files.values()) if size is not None]
    return max((size[0] for size in sizes), default=64), max((size[1] for size in sizes), default=64)


def _size_of(folder: Path, name: str) -> Size | None:
    try:
        with open_image(folder / name) as image:
            return upright_size(image)
    except ImageRefused:
        return None


def _read(folder: Path, name: str | None, size: Size) -> Image.Image | None:
    if name is None:
        return None
    try:
        image = read_image(folder / name)
    except ImageRefused:
        return None
    image.thumbnail(size, Image.Resampling.LANCZOS)
    return image


def _fitted(grid: Grid, size: Size) -> Size:
    """The size of a cell with which the sheet, with labels of at most a quarter more, is not too large."""
    x, y, z = (len(axis.labels) for axis in grid.axes)
    columns, rows = x + 1, (y + 1) * z
    pixels = MAX_SHEET_PIXELS / (1.25 * columns * rows * size[0] * size[1])
    sides = MAX_SHEET_SIDE / (1.25 * max(columns * size[0], rows * size[1]))
    scale = min(1.0, math.sqrt(pixels), sides)
    return max(16, int(size[0] * scale)), max(16, int(size[1] * scale))


class _Layout:
    """Where cells and labels are."""

    def __init__(self, axes: tuple[Axis, Axis, Axis], size: Size, font: Font) -> None:
        self._axes, self._size, self._font = axes, size, font
        self._line = math.ceil(sum(_extent(font, "Ag")[1::2]))
        width = max(_extent(font, label)[2] for label in map(_shown, _named(axes[1])))
        self._left = min(math.ceil(width) + 2 * _GAP, max(size[0], 120))
        texts = [_wrapped(font, _shown(label), size[0]) for label in _named(axes[0])]
        self._top = self._line * max(map(len, texts)) + 2 * _GAP
        self._above = self._line + 2 * _GAP if axes[2].name else 0

    @property
    def whole(self) -> Size:
        """The size of the sheet."""
        columns, rows, tables = (len(axis.labels) for axis in self._axes)
        return self._left + columns * self._step(0) + _GAP, tables * self._table(rows) + _GAP

    def _step(self, side: int) -> int:
        return self._size[side] + _GAP

    def _table(self, rows: int) -> int:
        return self._above + self._top + rows * self._step(1)

    def places(self) -> list[Place]:
        """All cells."""
        columns, rows, tables = (range(len(axis.labels)) for axis in self._axes)
        return [(x, y, z) for z in tables for y in rows for x in columns]

    def box(self, place: Place) -> tuple[int, int, int, int]:
        """Left, top, right and bottom of a cell."""
        x, y, z = place
        left = self._left + x * self._step(0)
        top = z * self._table(len(self._axes[1].labels)) + self._above + self._top + y * self._step(1)
        return left, top, left + self._size[0] - 1, top + self._size[1] - 1

    def write_labels(self, pen: ImageDraw.ImageDraw) -> None:
        """Write the values: of z above each table, of x above its columns, of y beside its rows."""
        x, y, z = map(_named, self._axes)
        for table, of_table in enumerate(z):
            first = self.box((0, 0, table))
            self._write(pen, (_GAP, first[1] - self._top - self._above + _GAP), of_table, MAX_SHEET_SIDE, 1)
            for column, label in enumerate(x):
                self._write(pen, (self.box((column, 0, table))[0], first[1] - self._top + _GAP), label, self._size[0])
            for row, label in enumerate(y):
                self._write(pen, (_GAP, self.box((0, row, table))[1]), label, self._left - 2 * _GAP)

    def _write(self, pen: ImageDraw.ImageDraw, at: Size, label: str, width: int, lines: int = _LINES) -> None:
        for index, line in enumerate(_wrapped(self._font, _shown(label), width)[:lines]):
            pen.text((at[0], at[1] + index * self._line), line, fill=_INK, font=self._font)


def _named(axis: Axis) -> list[str]:
    return [f"{axis.name} {label}" if axis.name else "" for label in axis.labels]


def _shown(label: str) -> str:
    return " ".join("".join(one if one.isprintable() else " " for one in label[:_LONGEST]).split())


def _extent(font: Font, text: str) -> tuple[float, float, float, float]:
    left, top, right, bottom = font.getbbox(text or " ")
    return left, top, right, bottom


def _wrapped(font: Font, text: str, width: int) -> list[str]:
    """At most `_LINES` lines no wider than `width`; what does not fit is left out."""
    lines = [""]
    for word in text.split():
        longer = f"{lines[-1]} {word}".strip()
        if _extent(font, longer)[2] <= width or not lines[-1]:
            lines[-1] = longer
        else:
            lines.append(word)
    kept, cut = lines[:_LINES], len(lines) > _LINES
    return [_cut(font, line, width, cut and index == _LINES - 1) for index, line in enumerate(kept)]


def _cut(font: Font, line: str, width: int, goes_on: bool) -> str:
    if _extent(font, line)[2] <= width and not goes_on:
        return line
    while line and _extent(font, f"{line}...")[2] > width:
        line = line[:-1]
    return f"{line}..."
