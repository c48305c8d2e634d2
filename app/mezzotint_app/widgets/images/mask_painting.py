"""Painting of a mask, the outpainting frame and the brush over an image."""

from PySide6.QtCore import QPointF, QRect, QRectF, Qt
from PySide6.QtGui import QColor, QImage, QPainter, QPen, qRgba

from mezzotint_app import theme
from mezzotint_app.viewmodel.canvas.layers import stripes
from mezzotint_app.viewmodel.create.images.own_images import LIGHT
from mezzotint_app.widgets.images.image_painting import on_screen, paint_image

_TINT = (214, 40, 96)
_DARK, _LIGHT = QColor(0, 0, 0, 200), QColor(255, 255, 255, 230)


def _strength(value: int) -> int:
    """The tint's alpha: clear for values that count as masked, faint for values below that."""
    return 120 if value >= LIGHT else 50 * value // LIGHT


_COLOURS = [qRgba(*_TINT, _strength(value)) for value in range(256)]


def paint_mask(painter: QPainter, mask: QImage, target: QRect, where: QRect, pixel_ratio: float) -> None:
    """Tint and stripe the masked area, so that it is visible on any image and without colour vision."""
    screen = on_screen(where, pixel_ratio)
    seen = screen.intersected(target)
    if seen.isEmpty():
        return
    layer = QImage(seen.size(), QImage.Format.Format_ARGB32_Premultiplied)
    layer.fill(0)
    inner = QPainter(layer)
    shifted = target.translated(-seen.topLeft())
    paint_image(inner, _tinted(mask), shifted, layer.rect(), 1.0, smooth=False, ground=False)
    inner.setCompositionMode(QPainter.CompositionMode.CompositionMode_SourceAtop)
    inner.setBrushOrigin(target.topLeft() - seen.topLeft())
    inner.fillRect(layer.rect(), stripes())
    inner.end()
    painter.save()
    painter.scale(1 / pixel_ratio, 1 / pixel_ratio)
    painter.drawImage(seen.topLeft(), layer)
    painter.restore()


def _tinted(mask: QImage) -> QImage:
    """The mask as a palette image that shares its memory."""
    tinted = QImage(mask.constBits(), mask.width(), mask.height(), mask.bytesPerLine(), QImage.Format.Format_Indexed8)
    tinted.setColorTable(_COLOURS)
    return tinted


def paint_growth(painter: QPainter, frame: QRectF, image: QRectF, handles: list[QPointF]) -> None:
    """Paint the added areas around the image, the frame around everything, and its handles."""
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    for part in _around(frame, image):
        painter.fillRect(part, theme.colour("raised"))
        painter.fillRect(part, QColor(*_TINT, 60))
        painter.fillRect(part, stripes())
    painter.setBrush(Qt.BrushStyle.NoBrush)
    for colour, width in ((_DARK, 3.0), (_LIGHT, 1.5)):
        painter.setPen(QPen(colour, width))
        painter.drawRect(frame)
    painter.setPen(QPen(_DARK, 1))
    painter.setBrush(_LIGHT)
    for handle in handles:
        painter.drawRoundedRect(QRectF(handle.x() - 6, handle.y() - 6, 12, 12), 3, 3)
    painter.restore()


def _around(frame: QRectF, image: QRectF) -> list[QRectF]:
    return [
        part
        for part in (
            QRectF(frame.left(), frame.top(), frame.width(), image.top() - frame.top()),
            QRectF(frame.left(), image.bottom(), frame.width(), frame.bottom() - image.bottom()),
            QRectF(frame.left(), image.top(), image.left() - frame.left(), image.height()),
            QRectF(image.right(), image.top(), frame.right() - image.right(), image.height()),
        )
        if part.width() > 0.5 and part.height() > 0.5
    ]


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
