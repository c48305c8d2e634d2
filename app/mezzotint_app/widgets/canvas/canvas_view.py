"""The canvas on the screen: tiles, the frame, what is generated and the pointer, with pan and zoom."""

import math

from PySide6.QtCore import QPoint, QPointF, QRect, QRectF, Qt, QTimer, Signal
from PySide6.QtGui import QColor, QImage, QPainter, QPainterPath, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QWidget

from mezzotint_app import theme
from mezzotint_app.viewmodel.canvas.composite import LEVELS, Composite, tiles_in
from mezzotint_app.viewmodel.canvas.document import CanvasDocument
from mezzotint_app.viewmodel.canvas.tiles import SIDE
from mezzotint_app.viewmodel.canvas.tools import CanvasTools
from mezzotint_app.widgets.canvas.brush_ring import paint_brush
from mezzotint_app.widgets.images.image_painting import paint_focus, paint_tag, paint_words

SMALLEST, LARGEST = 1 / 64, 32.0  # screen pixels per pixel of the canvas
BUDGET = 0.008  # seconds of a frame for building tiles
_SETTLED = 120  # milliseconds after a movement until the picture is drawn smoothly
_DARK, _LIGHT = QColor(0, 0, 0, 190), QColor(255, 255, 255, 230)
_SMOOTH = QPainter.RenderHint.SmoothPixmapTransform


class CanvasView(QWidget):
    """Displays a document. Coordinates of the screen are device-independent; (x, y) of the canvas are its pixels."""

    view_changed = Signal()  # zoom or position

    def __init__(self, document: CanvasDocument, tools: CanvasTools, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.document, self.tools = document, tools
        self.composite = Composite(document)
        self._scale, self._origin = 0.5, QPointF(-64, -64)  # of the canvas, in the view's upper left corner
        self._scribbled = False  # whether there is a control layer, which is light on black
        self._overlay: tuple[QImage, QRect] | None = None
        self._pointer: QPointF | None = None
        self._part: QRect | None = None  # that is shown as large as possible; None: after panning and zooming
        self._more = QTimer(self)  # draws the tiles that did not fit into the last frame
        self._more.setSingleShot(True)
        self._more.timeout.connect(self.update)
        self._settling = QTimer(self)
        self._settling.setSingleShot(True)
        self._settling.timeout.connect(self.update)
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.setMinimumSize(160, 120)
        document.changed.connect(self._document_changed)
        document.frame_changed.connect(self.update)
        document.selection_changed.connect(self.update)
        tools.outline_changed.connect(self.update)
        tools.changed.connect(self.update)
        theme.changes().changed.connect(self.update)

    # ---- geometry

    def scale(self) -> float:
        """Device-independent pixels per pixel of the canvas."""
        return self._scale

    def to_canvas(self, at: QPointF) -> QPointF:
        """Convert a position of the view."""
        return at / self._scale + self._origin

    def to_view(self, at: QPointF) -> QPointF:
        """Convert a position of the canvas."""
        return (at - self._origin) * self._scale

    def rect_in_view(self, where: QRect) -> QRectF:
        """Convert a rectangle of the canvas."""
        return QRectF(self.to_view(where.topLeft().toPointF()), where.size().toSizeF() * self._scale)

    def pan(self, across: float, down: float) -> None:
        """Move the picture by this many pixels of the view."""
        self._part = None
        self._move(self._origin - QPointF(across, down) / self._scale, self._scale)

    def zoom_by(self, factor: float, at: QPointF | None = None) -> None:
        """Zoom around a point of the view (None: its middle)."""
        self._part = None
        at = self.rect().center().toPointF() if at is None else at
        scale = min(max(self._scale * factor, SMALLEST), LARGEST)
        self._move(self.to_canvas(at) - at / scale, scale)

    def actual_size(self) -> None:
        """Show one pixel of the canvas per pixel of the screen."""
        self.zoom_by(1 / (self._scale * self.devicePixelRatioF()))

    def fit(self) -> None:
        """Show everything that is painted, and the frame."""
        self.show_part(self.document.content().united(self.document.frame()))

    def show_part(self, where: QRect) -> None:
        """Show a part of the canvas, with a margin, until the view is moved."""
        self._part = where
        across, down = (self.width() - 48) / max(where.width(), 1), (self.height() - 48) / max(where.height(), 1)
        scale = min(max(min(across, down), SMALLEST), LARGEST)
        middle = QPointF(where.x() + where.width() / 2, where.y() + where.height() / 2)
        self._move(middle - self.rect().center().toPointF() / scale, scale)

    def _move(self, origin: QPointF, scale: float) -> None:
        ratio = self.devicePixelRatioF() * scale  # whole pixels of the screen: tiles stay sharp and without seams
        self._origin = QPointF(round(origin.x() * ratio) / ratio, round(origin.y() * ratio) / ratio)
        self._scale = scale
        self._settling.start(_SETTLED)
        self.view_changed.emit()
        self.update()

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802, D102
        super().resizeEvent(event)
        if not event.oldSize().isValid():
            self.fit()
        elif self._part is not None and not self.tools.is_busy():
            self.show_part(self._part)

    # ---- what is shown beside the document

    def show_overlay(self, overlay: tuple[QImage, QRect] | None) -> None:
        """Show an image over a rectangle of the canvas; None: nothing."""
        self._overlay = overlay
        self.update()

    def pointer(self) -> QPointF | None:
        """Where the tool is, on the canvas; None: outside."""
        return self._pointer

    def set_pointer(self, at: QPointF | None) -> None:
        """Move the tool's outline."""
        if at != self._pointer:
            for one in (self._pointer, at):
                if one is not None:
                    self.update(self._around(one))
            self._pointer = at

    def _around(self, at: QPointF) -> QRect:
        reach = max(self.tools.brush().radius() * self._scale, 6) + 4
        middle = self.to_view(at)
        return QRectF(middle.x() - reach, middle.y() - reach, 2 * reach, 2 * reach).toAlignedRect()

    def _document_changed(self, where: QRect) -> None:
        before, self._scribbled = self._scribbled, not self.document.bounds(("control",)).isEmpty()
        if self._scribbled == before:
            self.update(self.rect_in_view(where).adjusted(-2, -2, 2, 2).toAlignedRect())
        else:
            self.update()

    # ---- painting

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802, D102
        painter = QPainter(self)
        painter.fillRect(event.rect(), theme.colour("canvas"))
        if self._scribbled:
            painter.fillRect(self.rect_in_view(self.document.frame()), Qt.GlobalColor.black)
        self._paint_tiles(painter, event.rect())
        if self._overlay is not None:
            image, where = self._overlay
            painter.setRenderHint(_SMOOTH, not self._settling.isActive())
            painter.drawImage(self.rect_in_view(where), image)
        elif self.document.is_empty():
            words = self.tr("Paint, open an image (Ctrl+O), or write a prompt and generate into the frame (Ctrl+Enter)")
            paint_words(painter, self.rect_in_view(self.document.frame()).toRect(), words)
        self._paint_frame(painter)
        self._paint_outline(painter, self.document.selection() or QPainterPath())
        self._paint_outline(painter, self.tools.outline())
        if self._pointer is not None and self.tools.tool() in ("brush", "eraser"):
            brush = self.tools.brush()
            radius = brush.radius() * self._scale
            paint_brush(painter, self.to_view(self._pointer), radius, brush.core(), erase=brush.erase)
        elif self._pointer is not None and self.hasFocus():
            self._paint_cross(painter, self.to_view(self._pointer))
        if self.hasFocus():
            paint_focus(painter, self.rect())
        painter.end()

    def level(self) -> int:
        """The level of the tiles that are shown: the smallest ones that need not be magnified."""
        scale = self._scale * self.devicePixelRatioF()
        return min(max(math.floor(math.log2(1 / scale) + 1e-6), 0), LEVELS - 1)

    def _paint_tiles(self, painter: QPainter, where: QRect) -> None:
        level, ratio = self.level(), self.devicePixelRatioF()
        seen = QRectF(self.to_canvas(where.topLeft().toPointF()), where.size().toSizeF() / self._scale).toAlignedRect()
        seen = seen.intersected(self.document.bounds())
        if seen.isEmpty():
            return
        wanted = tiles_in(level, seen)
        if not self.composite.build(level, wanted, BUDGET):
            self._more.start(0)
        scale = self._scale * ratio
        painter.save()
        painter.scale(1 / ratio, 1 / ratio)
        painter.setRenderHint(_SMOOTH, scale < 3 and not self._settling.isActive())
        side = (SIDE << level) * scale
        left, top = -self._origin.x() * scale, -self._origin.y() * scale
        for column, row in wanted:
            x, y = round(left + column * side), round(top + row * side)
            target = QRect(x, y, round(left + (column + 1) * side) - x, round(top + (row + 1) * side) - y)
            self._paint_tile(painter, level, (column, row), target)
        painter.restore()

    def _paint_tile(self, painter: QPainter, level: int, place: tuple[int, int], target: QRect) -> None:
        tile = self.composite.get(level, place)
        if tile is not None:
            painter.drawImage(target, tile)

    def _paint_frame(self, painter: QPainter) -> None:
        frame, active = self.document.frame(), self.tools.tool() == "frame"
        where = self.rect_in_view(frame)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        for colour, width in ((_DARK, 3.0), (theme.colour("accent") if active else _LIGHT, 1.5)):
            painter.setPen(QPen(colour, width))
            painter.drawRect(where)
        held = self.tools.handles()
        if not held.isEmpty():
            self._paint_handles(painter, held)

    def _paint_handles(self, painter: QPainter, held: QRect) -> None:
        where = self.rect_in_view(held)
        painter.setPen(QPen(_DARK, 1))
        painter.setBrush(_LIGHT)
        for x in (where.left(), where.center().x(), where.right()):
            for y in (where.top(), where.center().y(), where.bottom()):
                if (x, y) != (where.center().x(), where.center().y()):
                    painter.drawRect(QRectF(x - 4, y - 4, 8, 8))
        paint_tag(painter, where.topLeft() + QPointF(8, 8), f"{held.width()} × {held.height()}")

    def _paint_outline(self, painter: QPainter, path: QPainterPath) -> None:
        if path.isEmpty():
            return
        painter.save()
        painter.scale(self._scale, self._scale)
        painter.translate(-self._origin)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        for colour, style in ((_DARK, Qt.PenStyle.SolidLine), (_LIGHT, Qt.PenStyle.DashLine)):
            pen = QPen(colour, 2, style)
            pen.setCosmetic(True)
            painter.setPen(pen)
            painter.drawPath(path)
        painter.restore()

    def _paint_cross(self, painter: QPainter, at: QPointF) -> None:
        for colour, width in ((_DARK, 3.0), (_LIGHT, 1.5)):
            painter.setPen(QPen(colour, width))
            for by in (QPoint(7, 0), QPoint(0, 7)):
                painter.drawLine(at - by, at + by)
