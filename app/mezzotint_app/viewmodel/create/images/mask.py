"""The inpainting mask as a document: strokes, undo and redo. White is inpainted."""

from dataclasses import dataclass

from PySide6.QtCore import QObject, QRect, Signal
from PySide6.QtGui import QImage

from mezzotint_app.viewmodel.create.images.mask_stroke import Brush, Stroke
from mezzotint_app.viewmodel.create.images.mask_tiles import Tiles, put_back, taken

MOST_BYTES = 64 << 20  # of undo and redo data
LARGEST_SIDE = 4096  # pixels; masks of larger images are scaled down, keeping their aspect ratio


@dataclass(slots=True, kw_only=True)
class _Change:
    """Undo data. `whole`: the entire mask; `inverted`: every pixel is inverted."""

    tiles: Tiles
    whole: QImage | None = None
    inverted: bool = False

    def bytes(self) -> int:
        """Return the size of the data in bytes."""
        images = [*self.tiles.values(), *([self.whole] if self.whole is not None else [])]
        return sum(image.sizeInBytes() for image in images)


class MaskDocument(QObject):
    """A paintable mask; changes can be undone as far as the memory limit allows."""

    changed = Signal(QRect)  # changed part of the mask
    history_changed = Signal()

    def __init__(self, width: int, height: int, parent: QObject | None = None, *, most_bytes: int = MOST_BYTES) -> None:
        super().__init__(parent)
        self._image = QImage(width, height, QImage.Format.Format_Grayscale8)
        self._image.fill(0)
        self._most_bytes = most_bytes
        self._undo: list[_Change] = []
        self._redo: list[_Change] = []
        self._stroke: Stroke | None = None
        self._before: Tiles = {}

    def image(self) -> QImage:
        """Return the mask: grayscale, 255 where the image is inpainted."""
        return QImage(self._image)

    def rect(self) -> QRect:
        """Return the mask's rectangle."""
        return self._image.rect()

    # ---- strokes

    def begin(self, brush: Brush, x: float, y: float) -> None:
        """Start a stroke, ending one in progress."""
        self.end()
        self._stroke = Stroke(brush)
        self._before = {}
        self._paint(self._stroke.down(x, y))

    def continue_stroke(self, x: float, y: float) -> None:
        """Continue the stroke to this position."""
        if self._stroke is not None:
            self._paint(self._stroke.to(x, y, self.rect()))

    def end(self) -> None:
        """End the stroke, which becomes one undo step."""
        if self._stroke is None:
            return
        self._paint(self._stroke.up())
        self._stroke = None
        before, self._before = self._before, {}
        if before:
            self._record(_Change(tiles=before))

    def is_painting(self) -> bool:
        """Whether a stroke is in progress."""
        return self._stroke is not None

    def _paint(self, dabs: list[tuple[float, float]]) -> None:
        stroke = self._stroke
        if stroke is None or not dabs:
            return
        touched = stroke.touched(dabs).intersected(self.rect())
        if touched.isEmpty():
            return
        self._before = taken(self._image, touched, self._before)
        stroke.paint(self._image, dabs)
        self.changed.emit(touched)

    # ---- whole mask

    def clear(self) -> None:
        """Clear the mask: nothing is inpainted."""
        self._fill(0)

    def fill(self) -> None:
        """Fill the mask: the whole image is inpainted."""
        self._fill(255)

    def invert(self) -> None:
        """Invert the mask."""
        self.end()
        self._image.invertPixels()
        self._record(_Change(tiles={}, inverted=True))
        self.changed.emit(self.rect())

    def load(self, image: QImage) -> None:
        """Replace the mask, scaled to this one's size, and clear the undo history."""
        self.end()
        grey = image.convertToFormat(QImage.Format.Format_Grayscale8)
        self._image = grey if grey.size() == self._image.size() else grey.scaled(self._image.size())
        self._undo.clear()
        self._redo.clear()
        self.history_changed.emit()
        self.changed.emit(self.rect())

    def _fill(self, value: int) -> None:
        self.end()
        before = self._image
        self._image = QImage(before.size(), before.format())
        self._image.fill(value)
        self._record(_Change(tiles={}, whole=before))
        self.changed.emit(self.rect())

    # ---- undo and redo

    def can_undo(self) -> bool:
        """Whether there is a step to undo."""
        return bool(self._undo)

    def can_redo(self) -> bool:
        """Whether there is a step to redo."""
        return bool(self._redo)

    def undo(self) -> None:
        """Undo the last step; a stroke in progress is ended first."""
        self.end()
        if self._undo:
            self._redo.append(self._turned(self._undo.pop()))
            self.history_changed.emit()

    def redo(self) -> None:
        """Redo the step that was undone last."""
        self.end()
        if self._redo:
            self._undo.append(self._turned(self._redo.pop()))
            self.history_changed.emit()

    def history_bytes(self) -> int:
        """Return the bytes used by undo and redo."""
        return sum(change.bytes() for change in (*self._undo, *self._redo))

    def _record(self, change: _Change) -> None:
        self._undo.append(change)
        self._redo.clear()
        # The last step can always be undone, whatever its size.
        while len(self._undo) > 1 and self.history_bytes() > self._most_bytes:
            del self._undo[0]
        self.history_changed.emit()

    def _turned(self, change: _Change) -> _Change:
        """Apply a change; returns its inverse."""
        where = self.rect()
        if change.inverted:
            self._image.invertPixels()
            turned = change
        elif change.whole is not None:
            turned = _Change(tiles={}, whole=self._image)
            self._image = change.whole
        else:
            turned = _Change(
                tiles={at: self._image.copy(QRect(*at, *_size(tile))) for at, tile in change.tiles.items()}
            )
            where = put_back(self._image, change.tiles)
        self.changed.emit(where)
        return turned


def _size(tile: QImage) -> tuple[int, int]:
    return tile.width(), tile.height()


def mask_size(width: int, height: int) -> tuple[int, int]:
    """Return the mask size for an image: the same aspect ratio, rounded up and limited to `LARGEST_SIDE`."""
    longer = max(width, height)
    if longer <= LARGEST_SIDE:
        return width, height
    return -(-width * LARGEST_SIDE // longer), -(-height * LARGEST_SIDE // longer)
