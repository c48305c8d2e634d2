"""Small buttons that show an icon, and say in a tooltip and to screen readers what they do."""

from PySide6.QtCore import QSize
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QToolButton

from mezzotint_app.resources import icon


def icon_button(name: str, words: str, *, shortcut: str = "", checkable: bool = False) -> QToolButton:
    """A button with an icon; `shortcut` is active in the whole window that it stands in."""
    button = QToolButton()
    button.setProperty("role", "quiet")
    button.setIcon(icon(name))
    button.setIconSize(QSize(20, 20))
    button.setCheckable(checkable)
    button.setAccessibleName(words)
    button.setToolTip(words)
    if shortcut:
        keys = QKeySequence(shortcut)
        button.setShortcut(keys)
        button.setToolTip(f"{words} ({keys.toString(QKeySequence.SequenceFormat.NativeText)})")
    return button
