"""A confirmation dialog for actions that cannot be undone; it does not block the window."""

from collections.abc import Callable

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QAbstractButton, QCheckBox, QMessageBox, QWidget

Confirmed = Callable[[bool], None]  # whether "do not ask again" was ticked


class Question(QMessageBox):
    """A question whose default and Escape button is Cancel."""

    agreed = Signal(bool)  # whether "do not ask again" was ticked

    def __init__(self, parent: QWidget, title: str, text: str, action: str, do_not_ask: str = "") -> None:
        super().__init__(parent)
        self.setIcon(QMessageBox.Icon.Question)
        self.setWindowTitle(title)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setText(text)
        self._agree = self.addButton(action, QMessageBox.ButtonRole.AcceptRole)
        self.setDefaultButton(self.addButton(QMessageBox.StandardButton.Cancel))
        self._tick = QCheckBox(do_not_ask, self) if do_not_ask else None
        if self._tick is not None:
            self.setCheckBox(self._tick)
        self.buttonClicked.connect(self._clicked)
        self.finished.connect(self.deleteLater)

    def _clicked(self, button: QAbstractButton) -> None:
        if button is self._agree:
            self.agreed.emit(self._tick is not None and self._tick.isChecked())


def confirm(parent: QWidget, title: str, text: str, action: str, then: Confirmed, *, do_not_ask: str = "") -> Question:
    """Ask, and call `then` if the user agrees; `do_not_ask` is the label of an optional checkbox."""
    question = Question(parent, title, text, action, do_not_ask)
    question.agreed.connect(then)
    question.open()
    return question
