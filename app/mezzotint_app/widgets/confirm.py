"""Asks once more before something that cannot be taken back; the window goes on meanwhile."""

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QCheckBox, QMessageBox, QWidget

Confirmed = Callable[[bool], None]  # whether it is not to be asked again


def confirm(
    parent: QWidget, title: str, text: str, action: str, then: Confirmed, *, do_not_ask: str = ""
) -> QMessageBox:
    """`then` is called when the person agrees; `do_not_ask` are the words of a box to tick, if there is to be one."""
    box = QMessageBox(parent)
    box.setIcon(QMessageBox.Icon.Question)
    box.setWindowTitle(title)
    box.setTextFormat(Qt.TextFormat.PlainText)
    box.setText(text)
    agree = box.addButton(action, QMessageBox.ButtonRole.AcceptRole)
    box.setDefaultButton(box.addButton(QMessageBox.StandardButton.Cancel))
    tick = QCheckBox(do_not_ask)
    if do_not_ask:
        box.setCheckBox(tick)
    box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)

    def clicked(button: object) -> None:
        if button is agree:
            then(bool(do_not_ask) and tick.isChecked())

    box.buttonClicked.connect(clicked)
    box.open()
    return box
