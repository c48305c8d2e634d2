"""The seed: a fixed number, or a random one for each image."""

from PySide6.QtCore import QRegularExpression, Signal
from PySide6.QtGui import QRegularExpressionValidator
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QWidget

from mezzotint_app.resources import icon
from mezzotint_app.widgets.icon_button import icon_button


class SeedBox(QWidget):
    """An empty field means a new seed for each image."""

    typed = Signal(object)  # int, or None if the field was cleared
    fixed = Signal(bool)
    rolled = Signal()
    reused = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._line = QLineEdit()
        self._line.setValidator(QRegularExpressionValidator(QRegularExpression("[0-9]{0,19}"), self))
        self._line.setPlaceholderText(self.tr("Random"))
        self._line.setAccessibleName(self.tr("Seed"))
        self._line.setToolTip(self.tr("The same seed and settings generate the same image again. Empty: random"))
        self._keep = icon_button("unlock", self.tr("Lock the seed"), checkable=True)
        self._roll = icon_button("dice", self.tr("Pick a random seed and lock it"))
        self._reuse = icon_button("reuse", self.tr("Lock the seed of the last image"))
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(4)
        row.addWidget(self._line, 1)
        for button in (self._keep, self._roll, self._reuse):
            row.addWidget(button)
        self._line.textEdited.connect(self._typed)
        self._keep.clicked.connect(self.fixed)
        self._roll.clicked.connect(self.rolled)
        self._reuse.clicked.connect(self.reused)

    def show_seed(self, value: int | None, *, can_reuse: bool) -> None:
        """Show the locked seed; None if the seed is random."""
        text = "" if value is None else str(value)
        if text != self._line.text():
            self._line.setText(text)
        self._keep.setChecked(value is not None)
        self._keep.setIcon(icon("unlock" if value is None else "lock"))
        words = self.tr("Lock the seed") if value is None else self.tr("Random seed")
        self._keep.setAccessibleName(words)
        self._keep.setToolTip(words)
        self._reuse.setEnabled(can_reuse)

    def line(self) -> QLineEdit:
        """The input field."""
        return self._line

    def buttons(self) -> tuple[QWidget, QWidget, QWidget]:
        """The buttons: lock, random seed, seed of the last image."""
        return self._keep, self._roll, self._reuse

    def _typed(self, text: str) -> None:
        self.typed.emit(int(text) if text else None)
