"""Buttons with an icon, with or without text, and with an accessible name."""

from PySide6.QtCore import QSize
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QPushButton, QToolButton

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


def text_button(name: str, words: str, tip: str, *, role: str = "") -> QPushButton:
    """A button with an icon and text; `role` is one of the theme's (quiet, primary)."""
    button = QPushButton(icon(name), words)
    button.setAccessibleName(words)
    button.setToolTip(tip)
    if role:
        button.setProperty("role", role)
    return button
