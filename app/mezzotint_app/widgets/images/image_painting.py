"""Painting of an image, the divider of a comparison and the text of an empty view."""

import math

from PySide6.QtCore import QPointF, QRect, QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QImage, QPainter, QPen, QTextOption

from mezzotint_app import theme

_SQUARE = 8  # screen pixels
_LINE = QColor("#ffffff")
_SHADOW = QColor(0, 0, 0, 150)


def paint_image(
    painter: QPainter,
    image: QImage,
    target: QRect,
    view: QRect,
    pixel_ratio: float,
    *,
    smooth: bool,
    ground: bool = True,
) -> None:
    """Paint an image over `target`, which is in screen pixels; only the part visible in `view` is touched.

    With `ground`, transparent areas show a checkerboard.
    """
    seen = target.intersected(on_screen(view, pixel_ratio))
    if seen.isEmpty():
        return
    painter.save()
    painter.scale(1 / pixel_ratio, 1 / pixel_ratio)
    if ground and image.hasAlphaChannel():
        _paint_squares(painter, seen)
    if image.size() == target.size():
        painter.drawImage(seen.topLeft(), image, seen.translated(-target.topLeft()))
    else:
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform, smooth)
        _paint_scaled(painter, image, QRectF(target), QRectF(seen))
    painter.restore()


def on_screen(where: QRect, pixel_ratio: float) -> QRect:
    """Convert a rectangle of the view to the screen pixels that it touches."""
    left, top = math.floor(where.left() * pixel_ratio), math.floor(where.top() * pixel_ratio)
    right = math.ceil((where.left() + where.width()) * pixel_ratio)
    bottom = math.ceil((where.top() + where.height()) * pixel_ratio)
    return QRect(left, top, right - left, bottom - top)


def _paint_scaled(painter: QPainter, image: QImage, target: QRectF, seen: QRectF) -> None:
    """Paint whole image pixels, a few more than are visible: nothing shifts, and little is read."""
    across, down = target.width() / image.width(), target.height() / image.height()
    left, top = int((seen.left() - target.left()) / across) - 1, int((seen.top() - target.top()) / down) - 1
    right = int((seen.right() - target.left()) / across) + 2
    bottom = int((seen.bottom() - target.top()) / down) + 2
    source = QRect(left, top, right - left, bottom - top).intersected(image.rect())
    where = QRectF(
        target.left() + source.left() * across,
        target.top() + source.top() * down,
        source.width() * across,
        source.height() * down,
    )
    painter.setClipRect(seen, Qt.ClipOperation.IntersectClip)
    painter.drawImage(where, image, QRectF(source))


def _paint_squares(painter: QPainter, where: QRect) -> None:
    tile = QImage(2 * _SQUARE, 2 * _SQUARE, QImage.Format.Format_RGB32)
    tile.fill(theme.colour("surface"))
    inner = QPainter(tile)
    for at in (0, _SQUARE):
        inner.fillRect(at, at, _SQUARE, _SQUARE, theme.colour("line"))
    inner.end()
    painter.fillRect(where, QBrush(tile))


def paint_line(painter: QPainter, view: QRect, across: float, words: tuple[str, str]) -> None:
    """Paint the divider between two images, visible on any background, and the labels on both sides."""
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    top, bottom = QPointF(across, view.top()), QPointF(across, view.bottom())
    for colour, width in ((_SHADOW, 4.0), (_LINE, 2.0)):
        painter.setPen(QPen(colour, width))
        painter.drawLine(top, bottom)
    _paint_handle(painter, QPointF(across, view.center().y()))
    left, right = words
    paint_tag(painter, QPointF(across - 16, 16), left, to_the_left=True)
    paint_tag(painter, QPointF(across + 16, 16), right)
    painter.restore()


def _paint_handle(painter: QPainter, middle: QPointF) -> None:
    painter.setPen(QPen(_SHADOW, 1))
    painter.setBrush(_LINE)
    painter.drawEllipse(middle, 12, 12)
    painter.setPen(QPen(QColor("#1d1b19"), 1.75, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap))
    for side in (-1, 1):
        tip = middle + QPointF(7 * side, 0)
        painter.drawLine(tip, tip + QPointF(-4 * side, -4))
        painter.drawLine(tip, tip + QPointF(-4 * side, 4))


def paint_tag(painter: QPainter, at: QPointF, words: str, *, to_the_left: bool = False) -> None:
    """Paint a short text on a dark background, readable on any image."""
    width = painter.fontMetrics().horizontalAdvance(words) + 16
    ground = QRectF(at.x() - (width if to_the_left else 0), at.y(), width, painter.fontMetrics().height() + 8)
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(_SHADOW)
    painter.drawRoundedRect(ground, 6, 6)
    painter.setPen(_LINE)
    painter.drawText(ground, Qt.AlignmentFlag.AlignCenter, words)
    painter.restore()


def paint_words(painter: QPainter, view: QRect, words: str) -> None:
    """Paint a plain text in the middle of an empty view."""
    painter.setPen(theme.colour("muted"))
    option = QTextOption(Qt.AlignmentFlag.AlignCenter)
    option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
    painter.drawText(QRectF(view.adjusted(24, 24, -24, -24)), words, option)


def paint_ground(painter: QPainter, where: QRect) -> None:
    """Paint the background of a control that lies over an image."""
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QPen(theme.colour("line"), 1))
    painter.setBrush(theme.colour("surface"))
    painter.drawRoundedRect(QRectF(where).adjusted(0.5, 0.5, -0.5, -0.5), 8, 8)
    painter.restore()


def paint_focus(painter: QPainter, view: QRect) -> None:
    """Paint the focus ring of a view."""
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.setPen(QPen(theme.colour("focus"), 2))
    painter.drawRect(view.adjusted(1, 1, -1, -1))
