"""The margin to the left of the number in a spin box, which a stylesheet cannot set."""

from PySide6.QtWidgets import QAbstractSpinBox

_LEFT = 5  # pixels: aligns the number with the text of lists and fields


def indent(box: QAbstractSpinBox) -> None:
    """Align the number with the text of other fields."""
    box.lineEdit().setTextMargins(_LEFT, 0, 0, 0)
