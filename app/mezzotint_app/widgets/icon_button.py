"""Small buttons that show an icon, and say in a tooltip and to screen readers what they do."""

from PySide6.QtCore import QSize
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QToolButton

from mezzotint_app.resources import icon

_SIDE = 30  # pixels: as high as fields and other buttons


def icon_button(name: str, words: str, *, shortcut: str = "", checkable: bool = False) -> QToolButton:
    """A button with an icon; `shortcut` is told in its tooltip, and made elsewhere."""
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
