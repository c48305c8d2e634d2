"""An image viewer with zoom, pan and comparison."""

from PySide6.QtCore import QEvent, QPointF, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QFocusEvent,
    QImage,
    QKeyEvent,
    QMouseEvent,
    QNativeGestureEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QGestureEvent, QPinchGesture, QWidget

from mezzotint_app import theme
from mezzotint_app.background import Executor, Pool
from mezzotint_app.viewmodel.gallery.viewport import Content, Viewport
from mezzotint_app.widgets.images import image_painting
from mezzotint_app.widgets.images.compare_slider import CompareSlider
from mezzotint_app.widgets.images.scaled_image import ScaledImage

STEP = 1.25  # zoom factor of a key press or a wheel notch
_PUSH = 48  # device-independent pixels that an arrow key moves
_NOTCH = 120.0  # a wheel notch in Qt's units
_ARROWS = {
    Qt.Key.Key_Left: (_PUSH, 0),
    Qt.Key.Key_Right: (-_PUSH, 0),
    Qt.Key.Key_Up: (0, _PUSH),
    Qt.Key.Key_Down: (0, -_PUSH),
}


class ImageView(QWidget):
    """Shows an image. For a context menu, connect `customContextMenuRequested`."""

    view_changed = Signal()  # zoom or position
    activated = Signal()  # Enter or a double click

    def __init__(self, parent: QWidget | None = None, *, pool: Executor | None = None) -> None:
        super().__init__(parent)
        runs = pool or Pool(self, threads=1)
        self._shown, self._before = ScaledImage(runs, self), ScaledImage(runs, self)
        self._size = QSize(1, 1)
        self._viewport = Viewport(content=Content(left=0, top=0, width=1, height=1), width=1, height=1)
        self._follows = True  # the whole image stays visible when the view is resized
        self._stand_in = False
        self._text = ""
        self._names = ("", "")
        self._grabbed: QPointF | None = None
        self._digits_zoom = True
        self._slider = CompareSlider(self)
        self._prepare()

    def _prepare(self) -> None:
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.setMouseTracking(True)
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.setMinimumSize(64, 64)
        self.grabGesture(Qt.GestureType.PinchGesture)
        self.setAccessibleName(self.tr("Image"))
        self._slider.moved.connect(self.update)
        self._shown.ready.connect(self.update)
        self._before.ready.connect(self.update)
        theme.changes().changed.connect(self.update)

    # ---- content

    def show_image(self, image: QImage, *, keep_view: bool = False, size: QSize | None = None) -> None:
        """Show an image; `size` is the full size if `image` is a downscaled copy."""
        if image.isNull():
            self.clear(self.tr("This image is empty."))
            return
        had_one = self.has_image()
        self._shown.set_image(image)
        self._stand_in = size is not None and size.width() > image.width()
        self._size = size or image.size()
        self.lay_out(keep=keep_view and had_one)

    def compare(self, before: QImage | None, names: tuple[str, str] | None = None) -> None:
        """Overlay another image on the left, up to a movable divider; None ends the comparison.

        `names`: labels of the left and right images, by default "Before" and "After".
        """
        self._names = names or (self.tr("Before"), self.tr("After"))
        self._before.set_image(before or QImage())
        self._slider.setVisible(before is not None and not before.isNull())
        self._place_slider()
        self.update()

    def clear(self, text: str = "") -> None:
        """Show `text` instead of an image."""
        self._text = text
        self._shown.set_image(QImage())
        self.compare(None)
        self.setAccessibleDescription(text)
        self.update()

    def has_image(self) -> bool:
        """Whether an image is shown."""
        return not self._shown.image().isNull()

    def image(self) -> QImage:
        """The shown image."""
        return self._shown.image()

    def image_size(self) -> QSize:
        """The image's full size, which zoom and coordinates refer to; its upper left corner is (0, 0)."""
        return self._size

    def is_comparing(self) -> bool:
        """Whether two images are being compared."""
        return self.has_image() and not self._before.image().isNull()

    # ---- zoom and position

    def fit(self) -> None:
        """Show the whole image, also when the view is resized."""
        self._follows = True
        self._use(self._viewport.fitted())

    def actual_size(self) -> None:
        """Show one image pixel per screen pixel."""
        self._zoom_to(self._viewport.actual_scale(), self.rect().center().toPointF())

    def zoom_by(self, factor: float, at: QPointF | None = None) -> None:
        """Zoom by `factor` around a point of the view (None: its centre)."""
        self._zoom_to(self._viewport.scale * factor, at or self.rect().center().toPointF())

    def zoom(self) -> float:
        """Screen pixels per image pixel."""
        return self._viewport.scale * self._viewport.pixel_ratio

    def leave_digits(self) -> None:
        """Do not handle the keys 0 and 1, which have another meaning in the surrounding window."""
        self._digits_zoom = False

    def toggle_size(self) -> None:
        """Switch between fit and actual size."""
        if self._follows:
            self.actual_size()
        else:
            self.fit()

    def viewport_now(self) -> Viewport:
        """The current position of the image."""
        return self._viewport

    def show_part_of(self, other: "ImageView") -> None:
        """Show the same part of the image as another view does of its own."""
        self._follows = other._follows
        self._use(self._viewport.fitted() if self._follows else self._viewport.like(other.viewport_now()))

    def _zoom_to(self, scale: float, at: QPointF) -> None:
        if self.has_image():
            self._follows = False
            self._use(self._viewport.zoomed(scale, at.x(), at.y()))

    def content(self) -> Content:
        """The area that can be viewed; subclasses may extend it beyond the image."""
        return Content(left=0, top=0, width=self._size.width(), height=self._size.height())

    def lay_out(self, *, keep: bool) -> None:
        """Update to the current content; with `keep`, the visible part stays where it is."""
        self._viewport = self._viewport.replaced(self.content())
        if not keep:
            self._follows = True
        self._use(self._viewport.fitted() if self._follows else self._viewport)

    def _use(self, viewport: Viewport) -> None:
        self._viewport = viewport
        self._describe()
        self.view_changed.emit()
        self.update()

    def _describe(self) -> None:
        if self.has_image():
            self.setAccessibleDescription(
                self.tr("{width} by {height} pixels, zoom {percent} %").format(
                    width=self._size.width(), height=self._size.height(), percent=round(self.zoom() * 100)
                )
            )

    def _fit_view(self) -> None:
        resized = self._viewport.resized(self.width(), self.height(), self.devicePixelRatioF())
        self._use(resized.fitted() if self._follows else resized)
        self._place_slider()

    # ---- painting

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802, D102
        painter = QPainter(self)
        painter.fillRect(event.rect(), theme.colour("canvas"))
        if self.has_image():
            self._paint_image(painter)
            self.paint_over(painter, event.rect())
        elif self._text:
            image_painting.paint_words(painter, self.rect(), self._text)
        if self.hasFocus():
            image_painting.paint_focus(painter, self.rect())
        painter.end()

    def paint_over(self, painter: QPainter, where: QRect) -> None:
        """Paint over the image, within `where`; for subclasses."""

    def image_rect(self) -> QRectF:
        """The rectangle of the whole image in the view, in device-independent pixels."""
        left, top = self._viewport.to_view(0, 0)
        scale = self._viewport.scale
        return QRectF(left, top, self._size.width() * scale, self._size.height() * scale)

    def _paint_image(self, painter: QPainter) -> None:
        ratio = self._viewport.pixel_ratio
        where, view = self.image_rect(), QRectF(self.rect())
        painter.save()
        if self.is_comparing():
            line = self._line()
            painter.setClipRect(QRectF(0, 0, line, view.height()))
            self._paint(painter, self._before, where, ratio)
            painter.setClipRect(QRectF(line, 0, view.width() - line, view.height()))
        self._paint(painter, self._shown, where, ratio)
        painter.restore()
        if self.is_comparing():
            image_painting.paint_line(painter, self.rect(), self._line(), self._names)
            image_painting.paint_ground(painter, self._slider.geometry().adjusted(-12, -6, 12, 6))

    def _paint(self, painter: QPainter, scaled: ScaledImage, where: QRectF, ratio: float) -> None:
        left, top = round(where.left() * ratio), round(where.top() * ratio)
        target = QRect(
            left, top, max(round(where.right() * ratio) - left, 1), max(round(where.bottom() * ratio) - top, 1)
        )
        image = scaled.at(target.width(), target.height())
        # Magnified pixels are shown as squares.
        smooth = self._stand_in or self._follows or target.width() < 3 * image.width()
        image_painting.paint_image(painter, image, target, self.rect(), ratio, smooth=smooth)

    # ---- divider

    def _line(self) -> float:
        left, right = self._span()
        return left + (right - left) * self._slider.part()

    def _span(self) -> tuple[float, float]:
        """The horizontal extent of the visible part of the image."""
        where = self.image_rect()
        return max(where.left(), 0.0), min(where.right(), float(self.width()))

    def _on_line(self, at: QPointF) -> bool:
        return self.is_comparing() and abs(at.x() - self._line()) <= 8

    def _move_line(self, at: QPointF) -> None:
        left, right = self._span()
        self._slider.set_part((at.x() - left) / max(right - left, 1.0))

    def _place_slider(self) -> None:
        width = min(240, max(self.width() - 32, 64))
        height = self._slider.sizeHint().height()
        self._slider.setGeometry((self.width() - width) // 2, self.height() - height - 16, width, height)

    # ---- input

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802, D102
        super().resizeEvent(event)
        self._fit_view()

    def event(self, event: QEvent) -> bool:
        """Handle pinch gestures and a changed pixel ratio."""
        if event.type() == QEvent.Type.DevicePixelRatioChange:
            self._fit_view()
        elif isinstance(event, QNativeGestureEvent) and event.gestureType() == Qt.NativeGestureType.ZoomNativeGesture:
            self.zoom_by(max(1 + event.value(), 0.1), event.position())
            return True
        elif isinstance(event, QGestureEvent):
            return self._pinched(event)
        return super().event(event)

    def _pinched(self, event: QGestureEvent) -> bool:
        pinch = event.gesture(Qt.GestureType.PinchGesture)
        if not isinstance(pinch, QPinchGesture):
            return False
        at = self.mapFromGlobal(pinch.centerPoint().toPoint()).toPointF()
        self.zoom_by(max(pinch.scaleFactor(), 0.1), at)
        return True

    def wheelEvent(self, event: QWheelEvent) -> None:  # noqa: N802, D102
        if event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            self.zoom_by(STEP ** (event.angleDelta().y() / _NOTCH), event.position())
        elif self.has_image() and self._viewport.can_move():
            push = event.pixelDelta() if not event.pixelDelta().isNull() else event.angleDelta() / 2
            self.push_image(push.x(), push.y())
        else:
            event.ignore()

    def mousePressEvent(self, event: QMouseEvent) -> None:  # noqa: N802, D102
        if event.button() not in (Qt.MouseButton.LeftButton, Qt.MouseButton.MiddleButton) or not self.has_image():
            super().mousePressEvent(event)
        elif event.button() == Qt.MouseButton.LeftButton and self._on_line(event.position()):
            self._slider.hold(True)
        else:
            self.grab_image(event.position())

    def mouseMoveEvent(self, event: QMouseEvent) -> None:  # noqa: N802, D102
        if self._slider.is_held():
            self._move_line(event.position())
        elif self._grabbed is not None:
            step = event.position() - self._grabbed
            self._grabbed = event.position()
            self.push_image(step.x(), step.y())
        else:
            self.setCursor(self.cursor_at(event.position()))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:  # noqa: N802, D102
        self._slider.hold(False)
        self._grabbed = None
        self.setCursor(self.cursor_at(event.position()))

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:  # noqa: N802, D102
        if event.button() == Qt.MouseButton.LeftButton and self.has_image() and not self._on_line(event.position()):
            self.activated.emit()

    def grab_image(self, at: QPointF) -> None:
        """Start dragging the image."""
        self._grabbed = at
        if self._viewport.can_move():
            self.setCursor(Qt.CursorShape.ClosedHandCursor)

    def cursor_at(self, at: QPointF) -> Qt.CursorShape:
        """The cursor shape at a point."""
        if self._on_line(at):
            return Qt.CursorShape.SplitHCursor
        movable = self.has_image() and self._viewport.can_move()
        return Qt.CursorShape.OpenHandCursor if movable else Qt.CursorShape.ArrowCursor

    def push_image(self, across: float, down: float) -> None:
        """Move the image by this many device-independent pixels."""
        self._use(self._viewport.moved(across, down))

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802, D102
        if not self.has_image() or not self._pressed(event):
            super().keyPressEvent(event)

    def _pressed(self, event: QKeyEvent) -> bool:
        """Handle a key and return whether it was handled; other keys go to the window."""
        key, shift = event.key(), bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
        if key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.activated.emit()
        elif event.text() in ("+", "=", "-"):
            self.zoom_by(1 / STEP if event.text() == "-" else STEP)
        elif event.text() in ("0", "1") and self._digits_zoom:
            self.fit() if event.text() == "0" else self.actual_size()
        elif key in (Qt.Key.Key_Left, Qt.Key.Key_Right) and shift and self.is_comparing():
            self._slider.push(1 if key == Qt.Key.Key_Right else -1)
        elif key in _ARROWS and self._viewport.can_move():
            self.push_image(*_ARROWS[Qt.Key(key)])
        else:
            return False
        return True

    def focusInEvent(self, event: QFocusEvent) -> None:  # noqa: N802, D102
        super().focusInEvent(event)
        self.update()

    def focusOutEvent(self, event: QFocusEvent) -> None:  # noqa: N802, D102
        super().focusOutEvent(event)
        self.update()
