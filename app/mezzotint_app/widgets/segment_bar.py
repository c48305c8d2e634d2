"""A bar whose parts differ in pattern as well as colour, and are told in words."""

from collections.abc import Mapping, Sequence

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QBrush, QColor, QPainter, QPainterPath, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from mezzotint_app import theme

_HEIGHT = 8
_THINNEST = 4  # minimum width in pixels of a non-empty part

Patterns = Mapping[str, tuple[str, Qt.BrushStyle]]  # colour and pattern of each kind of part


class SegmentBar(QWidget):
    """Its text is the tooltip and accessible name, and is also shown below wherever the bar is used."""

    def __init__(self, patterns: Patterns) -> None:
        super().__init__()
        self._patterns = patterns
        self._parts: tuple[tuple[str, float], ...] = ()
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        theme.changes().changed.connect(self.update)

    def show_parts(self, parts: Sequence[tuple[str, float]], name: str, words: str) -> None:
        """Show these kinds and sizes, from the left; hidden if there are none."""
        self._parts = tuple(parts)
        self.setAccessibleName(name)
        self.setToolTip(words)
        self.setVisible(bool(self._parts))
        self.update()

    def sizeHint(self) -> QSize:  # noqa: N802
        """The size of a thin bar."""
        return QSize(120, _HEIGHT)

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802, ARG002
        """Paint the parts, clipped to a rounded frame."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        frame = QRectF(self.rect())
        shape = QPainterPath()
        shape.addRoundedRect(frame, _HEIGHT / 2, _HEIGHT / 2)
        painter.setClipPath(shape)
        painter.fillRect(frame, theme.colour("line"))
        total = sum(size for _, size in self._parts) or 1
        left = frame.left()
        for kind, size in self._parts:
            width = max(_THINNEST if size else 0, frame.width() * size / total)
            self._paint_part(painter, kind, QRectF(left, frame.top(), width, frame.height()))
            left += width
        painter.end()

    def _paint_part(self, painter: QPainter, kind: str, where: QRectF) -> None:
        if kind not in self._patterns:
            return
        name, pattern = self._patterns[kind]
        colour = theme.colour(name)
        under = QColor(colour)
        under.setAlpha(60)
        painter.fillRect(where, under)
        painter.fillRect(where, QBrush(colour, pattern))
        painter.setPen(QPen(theme.colour("window"), 1))
        painter.drawLine(where.topRight(), where.bottomRight())
