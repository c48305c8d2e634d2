"""The room to the left of the number in a spin box, which a stylesheet cannot give."""

from PySide6.QtWidgets import QAbstractSpinBox

_LEFT = 5  # pixels: the number begins where the words of lists and fields begin


def indent(box: QAbstractSpinBox) -> None:
    """Let the number begin where words begin in other fields."""
    box.lineEdit().setTextMargins(_LEFT, 0, 0, 0)
