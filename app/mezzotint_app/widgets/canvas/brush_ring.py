"""The ring that shows the brush."""

from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QColor, QPainter, QPen

_DARK, _LIGHT = QColor(0, 0, 0, 200), QColor(255, 255, 255, 230)


def paint_brush(painter: QPainter, at: QPointF, radius: float, core: float, *, erase: bool) -> None:
    """Paint a ring of the brush's size, a dashed ring where it begins to fade, and for the eraser a diagonal line."""
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    inner = radius * (1 + core) / 2
    for colour, width in ((_DARK, 3.0), (_LIGHT, 1.5)):
        painter.setPen(QPen(colour, width))
        painter.drawEllipse(at, radius, radius)
        if erase:
            reach = max(radius * 0.7, 4.0)
            painter.drawLine(at + QPointF(-reach, reach), at + QPointF(reach, -reach))
        if radius - inner > 3:
            painter.setPen(QPen(colour, 1, Qt.PenStyle.DashLine))
            painter.drawEllipse(at, inner, inner)
    painter.restore()
