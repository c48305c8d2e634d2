"""Menus of buttons."""

from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QCursor
from PySide6.QtWidgets import QMenu, QWidget


def show_menu(menu: QMenu, button: QWidget, *, above: bool = False) -> None:
    """Open a menu below its button, or above it."""

    def leave() -> None:  # which Qt does not tell the button while a menu is open
        if not button.rect().contains(button.mapFromGlobal(QCursor.pos())):
            button.setAttribute(Qt.WidgetAttribute.WA_UnderMouse, on=False)
            button.update()

    menu.aboutToHide.connect(leave, Qt.ConnectionType.SingleShotConnection)
    down = -menu.sizeHint().height() if above else button.height()
    menu.popup(button.mapToGlobal(QPoint(0, down)))
