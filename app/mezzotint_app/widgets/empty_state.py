"""Placeholder for a page that has no content yet: what it is for, and what to do next."""

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from mezzotint_app import theme
from mezzotint_app.resources import icon_in
from mezzotint_app.widgets.labels import plain_label

_ICON = QSize(56, 56)
_WIDTH = 420  # pixels, the maximum width of the text


class EmptyState(QWidget):
    """An icon, a title, a short text and a button."""

    def __init__(self, drawing: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._drawing = drawing
        self._icon = QLabel()
        self._icon.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        self._title = plain_label(role="title", wrap=True)
        self._words = plain_label(role="muted", wrap=True)
        self.button = QPushButton()
        for label in (self._title, self._words):
            label.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        middle = QWidget()
        middle.setMaximumWidth(_WIDTH)
        column = QVBoxLayout(middle)
        column.setContentsMargins(0, 24, 0, 24)
        column.setSpacing(12)
        column.addStretch(2)
        for part in (self._icon, self._title, self._words):
            column.addWidget(part)
        column.addWidget(self.button, 0, Qt.AlignmentFlag.AlignHCenter)
        column.addStretch(3)
        row = QHBoxLayout(self)
        row.addStretch(1)
        row.addWidget(middle, 100)
        row.addStretch(1)
        self._paint_icon()
        theme.changes().changed.connect(self._paint_icon)

    def show_words(self, title: str, words: str, button: str = "", tip: str = "") -> None:
        """Show these texts; without a `button` text the button is hidden."""
        self._title.setText(title)
        self._words.setText(words)
        self._words.setVisible(bool(words))
        self.button.setText(button)
        self.button.setAccessibleName(button)
        self.button.setToolTip(tip)
        self.button.setVisible(bool(button))

    def title(self) -> str:
        """The title."""
        return self._title.text()

    def _paint_icon(self) -> None:
        self._icon.setPixmap(icon_in(self._drawing, "muted").pixmap(_ICON, self.devicePixelRatioF()))
