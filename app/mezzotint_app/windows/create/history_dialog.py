"""Earlier prompts, found by words."""

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QLineEdit, QListWidget, QListWidgetItem, QVBoxLayout, QWidget

from mezzotint_app.viewmodel.create.prompting.prompts import Prompts
from mezzotint_app.widgets.labels import plain_label

_SHOWN = 300  # characters of a prompt


class HistoryDialog(QDialog):
    """Emits `chosen` with the prompt that is to be used."""

    chosen = Signal(str)

    def __init__(self, prompts: Prompts, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._prompts = prompts
        self.setWindowTitle(self.tr("Earlier prompts"))
        self.search = QLineEdit()
        self.search.setPlaceholderText(self.tr("Search"))
        self.search.setAccessibleName(self.tr("Search in earlier prompts"))
        self.search.setToolTip(self.tr("Words in any order; Down moves to the list"))
        self.search.setClearButtonEnabled(True)
        self.found = QListWidget()
        self.found.setAccessibleName(self.tr("Earlier prompts"))
        self.found.setToolTip(self.tr("Enter or a double click uses a prompt"))
        self.found.setWordWrap(True)
        self._none = plain_label(role="muted", wrap=True)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        buttons.button(QDialogButtonBox.StandardButton.Close).setToolTip(self.tr("Keep the prompt as it is"))
        self.use = buttons.addButton(self.tr("Use"), QDialogButtonBox.ButtonRole.AcceptRole)
        self.use.setToolTip(self.tr("Replace the prompt by this one; Ctrl+Z undoes it"))
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 12, 16, 16)
        column.setSpacing(12)
        for widget in (self.search, self.found, self._none, buttons):
            column.addWidget(widget)
        self.search.textChanged.connect(self._show)
        self.search.installEventFilter(self)
        self.found.itemActivated.connect(lambda _item: self.accept())
        self.found.currentRowChanged.connect(lambda row: self.use.setEnabled(row >= 0))
        buttons.accepted.connect(self.accept)
        buttons.rejected.connect(self.reject)
        self.resize(560, 420)
        self._show()

    def accept(self) -> None:
        """Use the current prompt."""
        item = self.found.currentItem()
        if item is not None:
            self.chosen.emit(item.data(Qt.ItemDataRole.UserRole))
            super().accept()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802
        """Move from the search to the list by keyboard."""
        if event.type() == QEvent.Type.KeyPress and isinstance(event, QKeyEvent) and event.key() == Qt.Key.Key_Down:
            self.found.setFocus()
            return True
        return super().eventFilter(watched, event)

    def _show(self) -> None:
        prompts = self._prompts.earlier(self.search.text())
        self.found.clear()
        for prompt in prompts:
            item = QListWidgetItem(" ".join(prompt[:_SHOWN].split()))
            item.setData(Qt.ItemDataRole.UserRole, prompt)
            self.found.addItem(item)
        self.found.setCurrentRow(0 if prompts else -1)
        self.use.setEnabled(bool(prompts))
        none = self.tr("No prompt has these words.") if self.search.text() else self.tr("No prompts yet.")
        self._none.setText("" if prompts else none)
        self._none.setVisible(not prompts)
