"""The slider that moves the divider between two images; accessible to screen readers and keyboards."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QSlider, QWidget

_PARTS = 1000
_STEP = 20


class CompareSlider(QSlider):
    """Hidden until two images are compared."""

    moved = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(Qt.Orientation.Horizontal, parent)
        self._held = False
        self.setRange(0, _PARTS)
        self.setValue(_PARTS // 2)
        self.setSingleStep(_STEP)
        self.setPageStep(5 * _STEP)
        self.setAccessibleName(self.tr("Position of the divider"))
        self.setToolTip(self.tr("Move the divider between before and after (Shift+Left, Shift+Right)"))
        self.valueChanged.connect(lambda _value: self.moved.emit())
        self.hide()

    def part(self) -> float:
        """The divider's position, 0 to 1."""
        return self.value() / _PARTS

    def set_part(self, part: float) -> None:
        """Move the divider to `part`."""
        self.setValue(round(min(max(part, 0.0), 1.0) * _PARTS))

    def push(self, steps: int) -> None:
        """Move the divider by `steps`."""
        self.setValue(self.value() + steps * _STEP)

    def hold(self, held: bool) -> None:
        """Set whether the divider follows the pointer."""
        self._held = held

    def is_held(self) -> bool:
        """Whether the divider follows the pointer."""
        return self._held
