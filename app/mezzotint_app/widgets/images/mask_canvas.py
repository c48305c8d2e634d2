"""An image to paint a mask on, with a frame whose edges can be dragged outwards."""

from dataclasses import replace

from PySide6.QtCore import QPointF, QRect, QRectF, Qt, Signal
from PySide6.QtGui import QEnterEvent, QFocusEvent, QKeyEvent, QMouseEvent, QPainter
from PySide6.QtWidgets import QWidget

from mezzotint_app.background import Executor
from mezzotint_app.viewmodel.create.images.mask import MaskDocument
from mezzotint_app.viewmodel.create.images.mask_stroke import LARGEST, SMALLEST, Brush
from mezzotint_app.viewmodel.create.images.outpaint_padding import OutpaintPadding
from mezzotint_app.viewmodel.gallery.viewport import Content
from mezzotint_app.widgets.images import image_painting, mask_painting
from mezzotint_app.widgets.images.image_view import ImageView

_HOLD = 10.0  # device-independent pixels around an edge or handle in which it can be grabbed
_ROOM = 0.06  # margin around the frame, relative to its larger side
_ARROWS = {
    Qt.Key.Key_Left: (-1, 0),
    Qt.Key.Key_Right: (1, 0),
    Qt.Key.Key_Up: (0, -1),
    Qt.Key.Key_Down: (0, 1),
}
_SHAPES = {
    frozenset({"left", "top"}): Qt.CursorShape.SizeFDiagCursor,
    frozenset({"right", "bottom"}): Qt.CursorShape.SizeFDiagCursor,
    frozenset({"left", "bottom"}): Qt.CursorShape.SizeBDiagCursor,
    frozenset({"right", "top"}): Qt.CursorShape.SizeBDiagCursor,
}


class MaskCanvas(ImageView):
    """Left button: paint. Shift and left button: straight line. Middle button: move the image. Edges: drag."""

    brush_changed = Signal()
    outpaint_padding_changed = Signal()

    def __init__(self, document: MaskDocument, parent: QWidget | None = None, *, pool: Executor | None = None) -> None:
        self._document = document
        self._brush = Brush()
        self._outpaint_padding = OutpaintPadding()
        self._held: tuple[frozenset[str], OutpaintPadding, QPointF] | None = None
        self._at: QPointF | None = None  # position of the brush, in image pixels
        self._last: QPointF | None = None  # end of the last stroke
        self._by_key = False
        super().__init__(parent, pool=pool)
        self.setAccessibleName(self.tr("Image to paint the mask on"))
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.NoContextMenu)
        document.changed.connect(self._mask_changed)

    # ---- brush and frame

    def brush(self) -> Brush:
        """The brush, with its size in image pixels."""
        return self._brush

    def set_brush(self, brush: Brush) -> None:
        """Set the brush, limited to valid sizes and hardness."""
        size = min(max(brush.size, SMALLEST), LARGEST / min(self._ratio(), 1.0))
        brush = replace(brush, size=size, hardness=min(max(brush.hardness, 0.0), 1.0))
        if brush != self._brush:
            self._brush = brush
            self.brush_changed.emit()
            self.update()

    def outpaint_padding(self) -> OutpaintPadding:
        """How far the image is extended on each side."""
        return self._outpaint_padding

    def set_outpaint_padding(self, outpaint_padding: OutpaintPadding) -> None:
        """Set how far the image is extended."""
        if outpaint_padding != self._outpaint_padding:
            self._outpaint_padding = outpaint_padding
            if self._held is None:
                self.lay_out(keep=True)
            self.outpaint_padding_changed.emit()
            self.update()

    def content(self) -> Content:
        """The frame, with a margin in which its edges can be grabbed."""
        width, height = self._outpaint_padding.size(self.image_size().width(), self.image_size().height())
        room = max(width, height) * _ROOM
        return Content(
            left=-self._outpaint_padding.left - room,
            top=-self._outpaint_padding.top - room,
            width=width + 2 * room,
            height=height + 2 * room,
        )

    def frame_rect(self) -> QRectF:
        """The rectangle of the extended image in the view, in device-independent pixels."""
        scale, grown, image = self.viewport_now().scale, self._outpaint_padding, self.image_rect()
        return image.adjusted(-grown.left * scale, -grown.top * scale, grown.right * scale, grown.bottom * scale)

    def _ratio(self) -> float:
        """Mask pixels per image pixel."""
        return self._document.rect().width() / max(self.image_size().width(), 1)

    # ---- painting on screen

    def paint_over(self, painter: QPainter, where: QRect) -> None:
        """Paint the mask, the frame and the brush."""
        ratio, image = self.viewport_now().pixel_ratio, self.image_rect()
        left, top = round(image.left() * ratio), round(image.top() * ratio)
        target = QRect(left, top, round(image.right() * ratio) - left, round(image.bottom() * ratio) - top)
        mask_painting.paint_mask(painter, self._document.image(), target, where, ratio)
        frame = self.frame_rect()
        mask_painting.paint_growth(painter, frame, image, list(_handles(frame).values()))
        width, height = self._outpaint_padding.size(self.image_size().width(), self.image_size().height())
        image_painting.paint_tag(painter, QPointF(8, 8), self.tr("{0} × {1} pixels").format(width, height))
        if self._at is not None and self._held is None and (self.underMouse() or self.hasFocus()):
            self._paint_brush(painter, self._at)

    def _paint_brush(self, painter: QPainter, at: QPointF) -> None:
        across, down = self.viewport_now().to_view(at.x(), at.y())
        radius = self._brush.size / 2 * self.viewport_now().scale
        mask_painting.paint_brush(painter, QPointF(across, down), radius, self._brush.core(), erase=self._brush.erase)

    def _mask_changed(self, where: QRect) -> None:
        ratio = self._ratio()
        left, top = self.viewport_now().to_view(where.left() / ratio, where.top() / ratio)
        scale = self.viewport_now().scale / ratio
        changed = QRectF(left, top, where.width() * scale, where.height() * scale)
        self.update(changed.toAlignedRect().adjusted(-2, -2, 2, 2))

    def _move_brush(self, at: QPointF | None) -> None:
        """Repaint only the brush outlines, at the old and the new position."""
        for place in (self._at, at):
            if place is not None:
                across, down = self.viewport_now().to_view(place.x(), place.y())
                reach = self._brush.size / 2 * self.viewport_now().scale + 8
                self.update(QRectF(across - reach, down - reach, 2 * reach, 2 * reach).toAlignedRect())
        self._at = at

    # ---- mouse

    def mousePressEvent(self, event: QMouseEvent) -> None:  # noqa: N802, D102
        if event.button() != Qt.MouseButton.LeftButton or not self.has_image():
            super().mousePressEvent(event)
            return
        edges = self._edges_at(event.position())
        if edges:
            self._held = (edges, self._outpaint_padding, event.position())
        else:
            straight = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
            self._put_down(self._place(event.position()), straight=straight)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:  # noqa: N802, D102
        self._move_brush(self._place(event.position()))
        if self._held is not None:
            self._drag(event.position())
        elif self._document.is_painting():
            self._draw_to(self._place(event.position()))
        else:
            super().mouseMoveEvent(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:  # noqa: N802, D102
        if event.button() == Qt.MouseButton.LeftButton and self._held is not None:
            self._held = None
            self.lay_out(keep=True)
        elif event.button() == Qt.MouseButton.LeftButton:
            self._lift()
        super().mouseReleaseEvent(event)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:  # noqa: N802, D102
        self.mousePressEvent(event)  # paints a second dab

    def leaveEvent(self, event: object) -> None:  # noqa: N802, D102, ARG002
        if not self.hasFocus():
            self._move_brush(None)
        self.update()

    def enterEvent(self, event: QEnterEvent) -> None:  # noqa: N802, D102
        super().enterEvent(event)
        self.update()

    def focusOutEvent(self, event: QFocusEvent) -> None:  # noqa: N802, D102
        self._lift()
        super().focusOutEvent(event)

    def cursor_at(self, at: QPointF) -> Qt.CursorShape:
        """The cursor shape at a point."""
        edges = self._edges_at(at)
        if edges:
            across = Qt.CursorShape.SizeHorCursor if edges & {"left", "right"} else Qt.CursorShape.SizeVerCursor
            return _SHAPES.get(edges, across)
        return Qt.CursorShape.CrossCursor if self.has_image() else Qt.CursorShape.ArrowCursor

    def _place(self, at: QPointF) -> QPointF:
        return QPointF(*self.viewport_now().to_image(at.x(), at.y()))

    def _edges_at(self, at: QPointF) -> frozenset[str]:
        """The frame edges that can be grabbed at a point: at a handle, or just outside the frame."""
        if not self.has_image():
            return frozenset()
        frame = self.frame_rect()
        for edges, handle in _handles(frame).items():
            if abs(at.x() - handle.x()) <= _HOLD and abs(at.y() - handle.y()) <= _HOLD:
                return edges
        outside = {
            "left": frame.left() - at.x(),
            "right": at.x() - frame.right(),
            "top": frame.top() - at.y(),
            "bottom": at.y() - frame.bottom(),
        }
        if max(outside.values()) > 2 * _HOLD:
            return frozenset()
        return frozenset(edge for edge, distance in outside.items() if distance > 0)

    def _drag(self, at: QPointF) -> None:
        if self._held is not None:
            edges, before, start = self._held
            scale = self.viewport_now().scale
            size = (self.image_size().width(), self.image_size().height())
            self.set_outpaint_padding(
                before.pushed(edges, (at.x() - start.x()) / scale, (at.y() - start.y()) / scale, size)
            )

    # ---- strokes

    def _put_down(self, at: QPointF, *, straight: bool = False) -> None:
        ratio = self._ratio()
        brush = replace(self._brush, size=self._brush.size * ratio)
        start = self._last if straight and self._last is not None else at
        self._document.begin(brush, start.x() * ratio, start.y() * ratio)
        self._draw_to(at)

    def _draw_to(self, at: QPointF) -> None:
        ratio = self._ratio()
        self._document.continue_stroke(at.x() * ratio, at.y() * ratio)
        self._last = at

    def _lift(self) -> None:
        self._by_key = False
        self._document.end()

    # ---- keyboard

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802, D102
        if not self.has_image() or not (self._commanded(event) or self._painted(event)):
            super().keyPressEvent(event)

    def keyReleaseEvent(self, event: QKeyEvent) -> None:  # noqa: N802, D102
        if event.key() == Qt.Key.Key_Space and not event.isAutoRepeat():
            self._lift()
        else:
            super().keyReleaseEvent(event)

    def _commanded(self, event: QKeyEvent) -> bool:
        brush = self._brush
        changed = {
            "[": replace(brush, size=brush.size / 1.25),
            "]": replace(brush, size=brush.size * 1.25),
            "{": replace(brush, hardness=brush.hardness - 0.1),
            "}": replace(brush, hardness=brush.hardness + 0.1),
            "e": replace(brush, erase=True),
            "b": replace(brush, erase=False),
            "x": replace(brush, erase=not brush.erase),
        }.get(event.text().lower())
        if changed is not None:
            self.set_brush(changed)
        return changed is not None

    def _painted(self, event: QKeyEvent) -> bool:
        key = event.key()
        if key in _ARROWS:
            self._step(*_ARROWS[Qt.Key(key)], fine=bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier))
        elif key == Qt.Key.Key_Space:
            if not event.isAutoRepeat():
                self._put_down(self._by_keys())
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._toggle()
        else:
            return False
        return True

    def _toggle(self) -> None:
        """Toggle painting, for users who cannot hold down a key: the brush stays down until the next press."""
        if self._by_key:
            self._lift()
        else:
            self._put_down(self._by_keys())
            self._by_key = True

    def _by_keys(self) -> QPointF:
        if self._at is None:
            size = self.image_size()
            self._move_brush(QPointF(size.width() / 2, size.height() / 2))
        return self._at or QPointF()

    def _step(self, across: int, down: int, *, fine: bool) -> None:
        size, at = self.image_size(), self._by_keys()
        step = 1.0 if fine else max(self._brush.size / 4, 1.0)
        place = QPointF(
            min(max(at.x() + across * step, 0.0), size.width()), min(max(at.y() + down * step, 0.0), size.height())
        )
        self._move_brush(place)
        if self._document.is_painting():
            self._draw_to(place)
        self._bring_into_sight(place)
        self.setAccessibleDescription(
            self.tr("Brush at {0}, {1}").format(round(place.x()), round(place.y()))
            + (self.tr(", painting") if self._document.is_painting() else "")
        )

    def _bring_into_sight(self, place: QPointF) -> None:
        across, down = self.viewport_now().to_view(place.x(), place.y())
        self.push_image(
            min(max(0.0, 24 - across), self.width()) - max(0.0, across - self.width() + 24),
            min(max(0.0, 24 - down), self.height()) - max(0.0, down - self.height() + 24),
        )


def _handles(frame: QRectF) -> dict[frozenset[str], QPointF]:
    """The corners and edge centres of a frame."""
    middle = frame.center()
    return {
        frozenset({"left", "top"}): frame.topLeft(),
        frozenset({"right", "top"}): frame.topRight(),
        frozenset({"left", "bottom"}): frame.bottomLeft(),
        frozenset({"right", "bottom"}): frame.bottomRight(),
        frozenset({"left"}): QPointF(frame.left(), middle.y()),
        frozenset({"right"}): QPointF(frame.right(), middle.y()),
        frozenset({"top"}): QPointF(middle.x(), frame.top()),
        frozenset({"bottom"}): QPointF(middle.x(), frame.bottom()),
    }
