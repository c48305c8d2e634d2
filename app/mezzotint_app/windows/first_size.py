"""How large the window is when it is opened for the first time."""

from PySide6.QtCore import QSize

_FRAME = QSize(16, 40)  # the most that title bars and borders take; what they take here is known once it is shown


def first_size(usual: QSize, least: QSize, available: QSize) -> QSize:
    """The usual size, or what the screen has room for beside panels and the window's frame."""
    return usual.boundedTo(available - _FRAME).expandedTo(least)
