"""Number fields that may be left to the program, which then show what it chooses."""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QAbstractSpinBox, QSpinBox

from mezzotint_app.amounts import number_text
from mezzotint_app.widgets.inputs.decimal_box import DecimalBox
from mezzotint_app.widgets.inputs.spin_room import indent
from mezzotint_app.widgets.inputs.wheel_focus import ignore_wheel_without_focus


class AutomaticSpin(QSpinBox):
    """Emits `edited` with a whole number, or None for the automatic value, which is below the smallest number."""

    edited = Signal(object)

    def __init__(self, name: str, tip: str, low: int, high: int, step: int = 1) -> None:
        super().__init__()
        self.setRange(low - 1, high)
        self.setValue(low - 1)
        self.setSingleStep(step)
        _prepare(self, name, tip)
        self.show_automatic(None)
        self.valueChanged.connect(lambda _value: self.edited.emit(self.number()))

    def number(self) -> int | None:
        """The number, or None."""
        return None if self.value() == self.minimum() else self.value()

    def show_number(self, number: int | None) -> None:
        """Show a number, without emitting `edited`."""
        self.blockSignals(True)
        self.setValue(self.minimum() if number is None else number)
        self.blockSignals(False)

    def show_automatic(self, number: int | None) -> None:
        """Show which number is chosen automatically; None: not known."""
        self.setSpecialValueText(_automatic(self.tr("automatic"), None if number is None else str(number)))

    def stepBy(self, steps: int) -> None:  # noqa: N802  Qt's name
        """From the automatic value, step to the number that it stands for."""
        shown = self.specialValueText().rpartition("(")[2].rstrip(")")
        if self.number() is None and steps > 0 and shown.isdigit():
            self.setValue(int(shown))
        else:
            super().stepBy(steps)


class AutomaticDecimal(DecimalBox):
    """Emits `edited` with a number, or None for the automatic value, which is shown in place of 0."""

    edited = Signal(object)

    def __init__(self, name: str, tip: str, high: float, step: float, decimals: int) -> None:
        super().__init__()
        self.setDecimals(decimals)
        self.setRange(0.0, high)
        self.setSingleStep(step)
        _prepare(self, name, tip)
        self.show_automatic(None)
        self.valueChanged.connect(lambda _value: self.edited.emit(self.number()))

    def number(self) -> float | None:
        """The number, or None."""
        return self.value() or None

    def show_number(self, number: float | None) -> None:
        """Show a number, without emitting `edited`."""
        self.blockSignals(True)
        self.setValue(number or 0.0)
        self.blockSignals(False)

    def show_automatic(self, number: float | None) -> None:
        """Show which number is chosen automatically; None: not known."""
        self.setSpecialValueText(_automatic(self.tr("automatic"), None if number is None else number_text(number)))


def _automatic(word: str, shown: str | None) -> str:
    return word if shown is None else f"{word} ({shown})"


def _prepare(box: QAbstractSpinBox, name: str, tip: str) -> None:
    box.setAccessibleName(name)
    box.setToolTip(tip)
    box.setKeyboardTracking(False)
    ignore_wheel_without_focus(box)
    indent(box)
