"""A bar with a message and buttons for possible actions, always with an icon as well as a colour."""

from PySide6.QtCore import QSize, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QToolButton, QVBoxLayout, QWidget

from mezzotint_app import theme
from mezzotint_app.resources import icon, icon_in
from mezzotint_app.widgets.flow_layout import FlowLayout
from mezzotint_app.widgets.labels import plain_label

_ICON = QSize(20, 20)


class NoticeBar(QFrame):
    """Hidden while it has no text."""

    closed = Signal()

    def __init__(self, drawing: str, colour: str, *, closable: bool = False, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "notice")
        self._drawing, self._colour = drawing, colour
        self._icon = QLabel()
        self._text = plain_label(wrap=True, selectable=True)
        self._buttons = FlowLayout()
        words = QVBoxLayout()
        words.setSpacing(8)
        words.addWidget(self._text)
        words.addLayout(self._buttons)
        row = QHBoxLayout(self)
        row.setContentsMargins(12, 8, 8, 8)
        row.setSpacing(8)
        row.addWidget(self._icon)
        row.addLayout(words, 1)
        if closable:
            row.addWidget(self._close_button())
        self._paint_icon()
        theme.changes().changed.connect(self._paint_icon)
        self.hide()

    def show_text(self, text: str) -> None:
        """Show a message; an empty text hides the bar."""
        self._text.setText(text)
        self.setAccessibleName(text)
        self.setVisible(bool(text))

    def text(self) -> str:
        """The message."""
        return self._text.text()

    def add_button(self, button: QPushButton) -> QPushButton:
        """Add a button for an action."""
        self._buttons.addWidget(button)
        return button

    def _close_button(self) -> QToolButton:
        button = QToolButton()
        button.setIcon(icon("cancel"))
        button.setProperty("role", "quiet")
        button.setAccessibleName(self.tr("Hide this message"))
        button.setToolTip(self.tr("Hide this message"))
        button.clicked.connect(self._close)
        return button

    def _close(self) -> None:
        self.show_text("")
        self.closed.emit()

    def _paint_icon(self) -> None:
        self._icon.setPixmap(icon_in(self._drawing, self._colour).pixmap(_ICON, self.devicePixelRatioF()))
