"""Read-only text that can be copied, as high as it needs within limits."""

from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QPlainTextEdit, QWidget

_LONGEST = 20_000  # characters that are shown
_FEWEST, _MOST = 2, 9  # lines


class PlainBox(QPlainTextEdit):
    """Shows untrusted text, never as markup."""

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setReadOnly(True)
        self.setTabChangesFocus(True)
        self.setAccessibleName(name)
        self.setToolTip(name)
        self.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )

    def show_text(self, text: str) -> None:
        """Show the text, truncated if it is very long."""
        shown = text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
        if self.toPlainText() != shown:
            self.setPlainText(shown)
            self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802  Qt's name
        """Fit the height to the new width."""
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        lines = max(_FEWEST, min(_MOST, round(self.document().size().height())))
        height = self.fontMetrics().lineSpacing() * lines + 2 * round(self.document().documentMargin()) + 14
        if self.height() != height:
            self.setFixedHeight(height)
