"""Small buttons that show an icon, with their action as tooltip and accessible name."""

from PySide6.QtCore import QSize
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QToolButton

from mezzotint_app.resources import icon

_SIDE = 30  # pixels, as high as input fields and other buttons


def icon_button(name: str, words: str, *, shortcut: str = "", checkable: bool = False) -> QToolButton:
    """A button with an icon; `shortcut` is only shown in its tooltip, and has to be set up elsewhere."""
    button = QToolButton()
    button.setProperty("role", "quiet")
    button.setIcon(icon(name))
    button.setIconSize(QSize(20, 20))
    button.setFixedSize(_SIDE, _SIDE)
    button.setCheckable(checkable)
    button.setAccessibleName(words)
    button.setToolTip(words)
    if shortcut:
        keys = QKeySequence(shortcut).toString(QKeySequence.SequenceFormat.NativeText)
        button.setToolTip(f"{words} ({keys})")
    return button
