"""The end of the engine's log and its state, with a button to restart it."""

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtGui import QFontDatabase, QGuiApplication
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QPlainTextEdit, QVBoxLayout, QWidget

from mezzotint_app.viewmodel.engine_state import EngineState
from mezzotint_app.widgets.labels import plain_label

_LINES = 400


class LogDialog(QDialog):
    """Shows plain text that grows at the end."""

    restart_asked = Signal()

    def __init__(self, lines: Sequence[str], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.tr("Engine log"))
        self._engine: EngineState | None = None
        self._state = plain_label(wrap=True, selectable=True)
        self.lines = QPlainTextEdit()
        self.lines.setReadOnly(True)
        self.lines.setTabChangesFocus(True)
        self.lines.setUndoRedoEnabled(False)
        self.lines.setMaximumBlockCount(_LINES)
        self.lines.setFont(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont))
        self.lines.setAccessibleName(self.tr("Last lines of the log"))
        self.lines.setToolTip(self.tr("The engine's latest output"))
        self.lines.setPlaceholderText(self.tr("No output from the engine yet."))
        self.lines.setPlainText("\n".join(lines))
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 16, 16, 16)
        column.addWidget(self._state)
        column.addWidget(self.lines, 1)
        column.addWidget(self._buttons())
        self.resize(760, 480)

    def follow(self, state: EngineState) -> None:
        """Show the engine's state and keep it up to date."""
        self._engine = state
        state.changed.connect(self._show_engine)
        self._show_engine()

    def _show_engine(self) -> None:
        if self._engine is not None:
            words = f"{self._engine.text()}."
            self.show_state(" ".join(part for part in (words, self._engine.reason()) if part))

    def show_state(self, text: str) -> None:
        """Show the engine's current state."""
        self._state.setText(text)

    def add(self, line: str) -> None:
        """Append a line."""
        self.lines.appendPlainText(line)

    def _buttons(self) -> QDialogButtonBox:
        buttons = QDialogButtonBox()
        copy = buttons.addButton(self.tr("Copy"), QDialogButtonBox.ButtonRole.ActionRole)
        copy.setToolTip(self.tr("Copy all lines, for a bug report"))
        copy.clicked.connect(lambda: QGuiApplication.clipboard().setText(self.lines.toPlainText()))
        restart = buttons.addButton(self.tr("Restart engine"), QDialogButtonBox.ButtonRole.ActionRole)
        restart.setToolTip(self.tr("The current image starts over"))
        restart.clicked.connect(self.restart_asked)
        close = buttons.addButton(QDialogButtonBox.StandardButton.Close)
        close.setToolTip(self.tr("Close the log"))
        buttons.rejected.connect(self.reject)
        return buttons
