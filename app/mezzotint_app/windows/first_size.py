"""The window's size when it is first opened."""

from PySide6.QtCore import QSize

_FRAME = QSize(16, 40)  # upper limit for title bar and borders, whose real size is unknown until the window is shown


def first_size(usual: QSize, least: QSize, available: QSize) -> QSize:
    """The usual size, reduced to fit the available screen area together with the window frame."""
    return usual.boundedTo(available - _FRAME).expandedTo(least)
