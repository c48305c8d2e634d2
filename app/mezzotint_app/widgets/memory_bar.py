"""Planned memory use as a bar whose parts differ in pattern as well as colour, and as text."""

from collections.abc import Sequence

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QBrush, QColor, QPainter, QPainterPath, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from mezzotint_app import theme
from mezzotint_app.amounts import bytes_text
from mezzotint_app.viewmodel.create.plan_text import Segment

_HEIGHT = 8
_THINNEST = 4  # minimum width in pixels of a non-empty part
_PATTERNS = {
    "weights": ("accent", Qt.BrushStyle.SolidPattern),
    "activations": ("accent", Qt.BrushStyle.BDiagPattern),
    "other": ("control", Qt.BrushStyle.Dense4Pattern),
    "missing": ("danger", Qt.BrushStyle.DiagCrossPattern),
}


class MemoryBar(QWidget):
    """Its text is the tooltip and accessible name, and is also shown below wherever the bar is used."""

    def __init__(self) -> None:
        super().__init__()
        self._segments: tuple[Segment, ...] = ()
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        theme.changes().changed.connect(self.update)

    def show_segments(self, segments: Sequence[Segment]) -> None:
        """Show these segments, from the left."""
        self._segments = tuple(segments)
        self.setAccessibleName(self.tr("Memory: {parts}").format(parts=self.words()))
        self.setToolTip(self.words())
        self.setVisible(bool(self._segments))
        self.update()

    def words(self) -> str:
        """The segments with their sizes, from the left."""
        return ", ".join(f"{one.name} {bytes_text(one.bytes)}" for one in self._segments)

    def sizeHint(self) -> QSize:  # noqa: N802
        """The size of a thin bar."""
        return QSize(120, _HEIGHT)

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802, ARG002
        """Paint the segments, clipped to a rounded frame."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        frame = QRectF(self.rect())
        shape = QPainterPath()
        shape.addRoundedRect(frame, _HEIGHT / 2, _HEIGHT / 2)
        painter.setClipPath(shape)
        painter.fillRect(frame, theme.colour("line"))
        total = sum(one.bytes for one in self._segments) or 1
        left = frame.left()
        for one in self._segments:
            width = max(_THINNEST if one.bytes else 0, frame.width() * one.bytes / total)
            self._paint_part(painter, one, QRectF(left, frame.top(), width, frame.height()))
            left += width
        painter.end()

    def _paint_part(self, painter: QPainter, segment: Segment, where: QRectF) -> None:
        if segment.kind not in _PATTERNS:
            return
        name, pattern = _PATTERNS[segment.kind]
        colour = theme.colour(name)
        under = QColor(colour)
        under.setAlpha(60)
        painter.fillRect(where, under)
        painter.fillRect(where, QBrush(colour, pattern))
        painter.setPen(QPen(theme.colour("window"), 1))
        painter.drawLine(where.topRight(), where.bottomRight())
