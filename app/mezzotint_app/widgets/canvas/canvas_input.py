"""Mouse, pen, touch pad and keyboard on the canvas."""

from collections.abc import Callable

from PySide6.QtCore import QEvent, QPointF, Qt, Signal
from PySide6.QtGui import (
    QFocusEvent,
    QKeyEvent,
    QMouseEvent,
    QNativeGestureEvent,
    QPointingDevice,
    QTabletEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QGestureEvent, QPinchGesture, QWidget

from mezzotint_app.viewmodel.canvas.document import CanvasDocument
from mezzotint_app.viewmodel.canvas.tools import CanvasTools, Tool
from mezzotint_app.widgets.canvas.canvas_view import CanvasView

STEP = 1.25  # zoom factor of a key press or a wheel notch
_NOTCH = 120.0  # a wheel notch in Qt's units
_PUSH = 48.0  # pixels that Ctrl and an arrow key pan
_REACH = 8.0  # pixels of the view around an edge of the frame
KEYS: dict[str, Tool] = {
    "b": "brush",
    "e": "eraser",
    "l": "lasso",
    "r": "rectangle",
    "g": "fill",
    "m": "select",
    "n": "select_lasso",
    "i": "picker",
    "v": "move",
    "f": "frame",
}
_ARROWS = {
    Qt.Key.Key_Left: QPointF(-1, 0),
    Qt.Key.Key_Right: QPointF(1, 0),
    Qt.Key.Key_Up: QPointF(0, -1),
    Qt.Key.Key_Down: QPointF(0, 1),
}
_CONTROL = Qt.KeyboardModifier.ControlModifier


class Canvas(CanvasView):
    """The canvas with its input. Whatever the mouse does, keys do, too: arrows move the tool, Space presses it."""

    colour_asked = Signal()

    def __init__(self, document: CanvasDocument, tools: CanvasTools, parent: QWidget | None = None) -> None:
        super().__init__(document, tools, parent)
        self._panned: QPointF | None = None
        self._held = False  # by Return
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        self.setTabletTracking(True)
        self.grabGesture(Qt.GestureType.PinchGesture)
        self.setAccessibleName(self.tr("Canvas"))
        tools.changed.connect(self._show_cursor)
        self._show_cursor()

    def _show_cursor(self) -> None:
        shapes = {"move": Qt.CursorShape.SizeAllCursor, "picker": Qt.CursorShape.PointingHandCursor}
        self.setCursor(shapes.get(self.tools.tool(), Qt.CursorShape.CrossCursor))

    # ---- mouse and pen

    def mousePressEvent(self, event: QMouseEvent) -> None:  # noqa: N802, D102
        if event.button() == Qt.MouseButton.LeftButton:
            self._press(event.position(), 1.0, event.modifiers())
        elif event.button() in (Qt.MouseButton.MiddleButton, Qt.MouseButton.RightButton):
            self._panned = event.position()
            self.setCursor(Qt.CursorShape.ClosedHandCursor)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:  # noqa: N802, D102
        if self._panned is not None:
            by, self._panned = event.position() - self._panned, event.position()
            self.pan(by.x(), by.y())
        else:
            self._move_to(event.position(), 1.0)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:  # noqa: N802, D102
        self._panned = None
        self._show_cursor()
        if event.button() == Qt.MouseButton.LeftButton:
            self.tools.release()

    def tabletEvent(self, event: QTabletEvent) -> None:  # noqa: N802
        """Like the mouse, with pressure; the pen's other end erases."""
        if event.type() == QEvent.Type.TabletPress and event.button() == Qt.MouseButton.LeftButton:
            if event.pointerType() == QPointingDevice.PointerType.Eraser:
                self.tools.set_tool("eraser")
            self._press(event.position(), event.pressure(), event.modifiers())
        elif event.type() == QEvent.Type.TabletMove:
            self._move_to(event.position(), event.pressure())
        elif event.type() == QEvent.Type.TabletRelease:
            self.tools.release()
        event.accept()

    def leaveEvent(self, event: QEvent) -> None:  # noqa: N802, D102
        super().leaveEvent(event)
        if not self.hasFocus():
            self.set_pointer(None)

    def focusOutEvent(self, event: QFocusEvent) -> None:  # noqa: N802, D102
        self._lift()
        super().focusOutEvent(event)

    def _press(self, at: QPointF, pressure: float, modifiers: Qt.KeyboardModifier) -> None:
        self.setFocus(Qt.FocusReason.MouseFocusReason)
        place = self.to_canvas(at)
        self.set_pointer(place)
        if modifiers & Qt.KeyboardModifier.AltModifier:
            self.tools.pick(place)
        else:
            erase, add = bool(modifiers & _CONTROL), bool(modifiers & Qt.KeyboardModifier.ShiftModifier)
            self.tools.press(place, pressure, erase=erase, add=add, reach=_REACH / self.scale())

    def _move_to(self, at: QPointF, pressure: float) -> None:
        self.set_pointer(self.to_canvas(at))
        self.tools.move(self.to_canvas(at), pressure)

    # ---- wheel and gestures

    def wheelEvent(self, event: QWheelEvent) -> None:  # noqa: N802, D102
        push, turned = event.pixelDelta(), event.angleDelta()
        if event.modifiers() & _CONTROL or (push.isNull() and not event.modifiers()):
            self.zoom_by(STEP ** (turned.y() / _NOTCH), event.position())
        elif not push.isNull():  # two fingers on a touch pad
            self.pan(push.x(), push.y())
        else:
            self.pan((turned.x() or turned.y()) / 2, 0)

    def event(self, event: QEvent) -> bool:
        """Handle pinch gestures."""
        if isinstance(event, QNativeGestureEvent) and event.gestureType() == Qt.NativeGestureType.ZoomNativeGesture:
            self.zoom_by(max(1 + event.value(), 0.1), event.position())
            return True
        if isinstance(event, QGestureEvent):
            pinch = event.gesture(Qt.GestureType.PinchGesture)
            if isinstance(pinch, QPinchGesture):
                at = self.mapFromGlobal(pinch.centerPoint())
                self.zoom_by(max(pinch.scaleFactor(), 0.1), at)
                moved = pinch.centerPoint() - pinch.lastCenterPoint()
                self.pan(moved.x(), moved.y())
                return True
        return super().event(event)

    # ---- keyboard

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802, D102
        if not (self._moved(event) or self._pressed(event) or self.command(event.text().lower())):
            super().keyPressEvent(event)

    def keyReleaseEvent(self, event: QKeyEvent) -> None:  # noqa: N802, D102
        if event.key() == Qt.Key.Key_Space and not event.isAutoRepeat():
            self._lift()
        else:
            super().keyReleaseEvent(event)

    def _moved(self, event: QKeyEvent) -> bool:
        by = _ARROWS.get(Qt.Key(event.key()))
        if by is None or event.modifiers() & Qt.KeyboardModifier.AltModifier:
            return False
        if event.modifiers() & _CONTROL:
            self.pan(-by.x() * _PUSH, -by.y() * _PUSH)
            return True
        step = 1.0 if event.modifiers() & Qt.KeyboardModifier.ShiftModifier else max(12 / self.scale(), 1.0)
        place = self._by_keys() + by * step
        self.set_pointer(place)
        self.tools.move(place)
        self._bring_into_sight(self.to_view(place))
        self.setAccessibleDescription(self.tr("Tool at {0}, {1}").format(round(place.x()), round(place.y())))
        return True

    def _pressed(self, event: QKeyEvent) -> bool:
        key = event.key()
        if key == Qt.Key.Key_Space and not event.modifiers():
            if not event.isAutoRepeat():
                self._press_by_key()
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and not event.modifiers():
            self._toggle()
        elif key == Qt.Key.Key_Escape and self.tools.is_busy():
            self.tools.cancel()
        else:
            return False
        return True

    def command(self, key: str) -> bool:
        """Do what a key without modifiers stands for; returns False if that is nothing."""
        tools, brush = self.tools, self.tools.brush()
        acts: dict[str, Callable[[], object]] = {
            "[": lambda: tools.set_brush(size=brush.size / STEP),
            "]": lambda: tools.set_brush(size=brush.size * STEP),
            "{": lambda: tools.set_brush(hardness=brush.hardness - 0.1),
            "}": lambda: tools.set_brush(hardness=brush.hardness + 0.1),
            "+": lambda: self.zoom_by(STEP),
            "=": lambda: self.zoom_by(STEP),
            "-": lambda: self.zoom_by(1 / STEP),
            "0": self.fit,
            "1": self.actual_size,
            "c": self.colour_asked.emit,
        }
        if key in KEYS:
            tools.set_tool(KEYS[key])
        elif key in acts:
            acts[key]()
        return key in KEYS or key in acts

    def _toggle(self) -> None:
        """Press the tool until the next time, for users who cannot hold down a key."""
        if self._held:
            self._lift()
        else:
            self._press_by_key()
            self._held = True

    def _press_by_key(self) -> None:
        self.tools.press(self._by_keys(), reach=_REACH / self.scale())

    def _lift(self) -> None:
        self._held = False
        if self.tools.is_busy():
            self.tools.release()

    def _by_keys(self) -> QPointF:
        if self.pointer() is None:
            self.set_pointer(self.to_canvas(self.rect().center().toPointF()))
        return self.pointer() or QPointF()

    def _bring_into_sight(self, at: QPointF) -> None:
        across = min(max(0.0, 24 - at.x()), self.width()) - max(0.0, at.x() - self.width() + 24)
        down = min(max(0.0, 24 - at.y()), self.height()) - max(0.0, at.y() - self.height() + 24)
        if across or down:
            self.pan(across, down)
