"""Keeps the mouse wheel scrolling the page: number and choice widgets only react to it while they have the focus."""

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtWidgets import QWidget


class _WheelFilter(QObject):
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802
        if event.type() == QEvent.Type.Wheel and isinstance(watched, QWidget) and not watched.hasFocus():
            event.ignore()
            return True
        return False


def ignore_wheel_without_focus(widget: QWidget) -> None:
    """Leave the wheel to the page until the widget has the focus."""
    widget.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
    widget.installEventFilter(_WheelFilter(widget))
