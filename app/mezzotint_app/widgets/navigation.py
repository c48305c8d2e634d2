"""The navigation rail on the left: pages, settings and help."""

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QButtonGroup, QFrame, QSizePolicy, QToolButton, QVBoxLayout, QWidget

from mezzotint_app.resources import icon, icon_in

_ICON = QSize(24, 24)
_WIDTH = 84  # minimum width in pixels


class Navigation(QFrame):
    """A column of buttons; exactly one page is selected."""

    chosen = Signal(int)
    settings_asked = Signal()
    help_asked = Signal()

    def __init__(self, pages: tuple[tuple[str, str], ...], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "side")
        self.setMinimumWidth(_WIDTH)
        self._drawings = [drawing for drawing, _ in pages]
        self._group = QButtonGroup(self)
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(6, 8, 6, 8)
        self._column.setSpacing(2)
        for number, (drawing, text) in enumerate(pages):
            self._add_page(number, drawing, text)
        self._column.addStretch()
        self._add_action("settings", self.tr("Settings"), "Ctrl+,", self.settings_asked)
        self._add_action("help", self.tr("Shortcuts"), "F1", self.help_asked)
        self._group.idToggled.connect(self._toggled)
        self._group.idClicked.connect(self.chosen)

    def choose(self, number: int) -> None:
        """Select the button of the current page."""
        self._group.button(number).setChecked(True)

    def button(self, number: int) -> QToolButton:
        """The button of a page."""
        found = self._group.button(number)
        assert isinstance(found, QToolButton)  # noqa: S101  no others are added
        return found

    def _add_page(self, number: int, drawing: str, text: str) -> None:
        button = self._make(drawing, text, f"Ctrl+{number + 1}")
        button.setCheckable(True)
        self._group.addButton(button, number)

    def _add_action(self, drawing: str, text: str, keys: str, signal: object) -> None:
        self._make(drawing, text, keys).clicked.connect(signal)

    def _make(self, drawing: str, text: str, keys: str) -> QToolButton:
        button = QToolButton()
        button.setProperty("role", "tab")
        button.setIcon(icon(drawing))
        button.setIconSize(_ICON)
        button.setText(text)
        button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextUnderIcon)
        button.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        QShortcut(QKeySequence(keys), self, button.click)  # works at once; a button's own shortcut needs it visible
        shown = QKeySequence(keys).toString(QKeySequence.SequenceFormat.NativeText)
        button.setToolTip(f"{text} ({shown})")
        button.setAccessibleName(text)
        self._column.addWidget(button)
        return button

    def _toggled(self, number: int, chosen: bool) -> None:
        drawing = self._drawings[number]
        self._group.button(number).setIcon(icon_in(drawing, "accent") if chosen else icon(drawing))
