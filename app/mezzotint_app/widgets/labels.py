"""Labels that show text as it is: foreign words are never taken for markup."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QSizePolicy, QWidget

from mezzotint_app.viewmodel.foreign_text import plain_tooltip


def plain_label(text: str = "", *, role: str = "", wrap: bool = False, selectable: bool = False) -> QLabel:
    """A label of plain text; `role` is one of the theme's (title, heading, muted, error, warning)."""
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
    """With a capital at the beginning; the engine's reasons are parts of sentences."""
    return text[:1].upper() + text[1:]


class ElidedLabel(QLabel):
    """One line of plain text, shortened in the middle where there is no room."""

    def __init__(self, text: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self._whole = ""
        self.setText(text)

    def setText(self, text: str) -> None:  # noqa: N802  Qt's name
        """Show this, as much of it as fits."""
        self._whole = text
        self.setToolTip(plain_tooltip(text) if text else "")
        self.setAccessibleName(text)
        self._elide()

    def whole_text(self) -> str:
        """What it would show if there were room."""
        return self._whole

    def resizeEvent(self, event: object) -> None:  # noqa: N802, D102, ARG002
        self._elide()

    def _elide(self) -> None:
        shown = self.fontMetrics().elidedText(self._whole, Qt.TextElideMode.ElideMiddle, max(self.width(), 0))
        super().setText(shown if self.width() > 0 else self._whole)
