"""Labels that show plain text; untrusted text is never interpreted as markup."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QSizePolicy, QWidget

from mezzotint_app.viewmodel.foreign_text import plain_tooltip


def plain_label(text: str = "", *, role: str = "", wrap: bool = False, selectable: bool = False) -> QLabel:
    """A plain-text label; `role` is one of the theme's (title, heading, muted, error, warning)."""
    label = QLabel()
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setText(text)
    label.setWordWrap(wrap)
    if role:
        label.setProperty("role", role)
    if selectable:
        label.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
    return label


def sentence(text: str) -> str:
    """Capitalize the first letter; the engine's reasons are sentence fragments."""
    return text[:1].upper() + text[1:]


class ElidedLabel(QLabel):
    """A line of plain text that is elided in the middle if there is not enough room."""

    def __init__(self, text: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self._whole = ""
        self.setText(text)

    def setText(self, text: str) -> None:  # noqa: N802  Qt's name
        """Show the text, elided to fit."""
        self._whole = text
        self.setToolTip(plain_tooltip(text) if text else "")
        self.setAccessibleName(text)
        self._elide()

    def whole_text(self) -> str:
        """The complete text."""
        return self._whole

    def resizeEvent(self, event: object) -> None:  # noqa: N802, D102, ARG002
        self._elide()

    def _elide(self) -> None:
        shown = self.fontMetrics().elidedText(self._whole, Qt.TextElideMode.ElideMiddle, max(self.width(), 0))
        super().setText(shown if self.width() > 0 else self._whole)
