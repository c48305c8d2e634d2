"""Two numbers between 0 and 1, the first less than the second."""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QWidget

from mezzotint_app.widgets.inputs.decimal_box import DecimalBox
from mezzotint_app.widgets.inputs.spin_room import indent
from mezzotint_app.widgets.inputs.wheel_focus import ignore_wheel_without_focus

Interval = tuple[float, float]


class IntervalSpin(QWidget):
    """Shows an interval; `edited` emits the one that the user chose."""

    edited = Signal(object)

    def __init__(self, name: str, tip: str, *, step: float) -> None:
        super().__init__()
        self._step = step
        self.start, self.end = DecimalBox(), DecimalBox()
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(8)
        said = (self.tr("{name}, start").format(name=name), self.tr("{name}, end").format(name=name))
        for spin, label in zip((self.start, self.end), said, strict=True):
            spin.setRange(0.0, 1.0)
            spin.setDecimals(2)
            spin.setSingleStep(step)
            spin.setKeyboardTracking(False)
            spin.setAccessibleName(label)
            spin.setToolTip(tip)
            indent(spin)
            ignore_wheel_without_focus(spin)
        row.addWidget(self.start, 1)
        row.addWidget(QLabel(self.tr("to")))
        row.addWidget(self.end, 1)
        self.start.valueChanged.connect(self._started)
        self.end.valueChanged.connect(self._ended)

    def value(self) -> Interval:
        """The shown interval."""
        return round(self.start.value(), 3), round(self.end.value(), 3)

    def show_value(self, value: Interval) -> None:
        """Show an interval without emitting `edited`."""
        for spin, number in zip((self.start, self.end), value, strict=True):
            spin.blockSignals(True)
            spin.setValue(number)
            spin.blockSignals(False)

    def _started(self, start: float) -> None:
        self._emit_edited(min(start, 1.0 - self._step), max(self.end.value(), start + self._step))

    def _ended(self, end: float) -> None:
        self._emit_edited(min(self.start.value(), end - self._step), max(end, self._step))

    def _emit_edited(self, start: float, end: float) -> None:
        """Show an interval, moving the other end if necessary, and emit `edited`."""
        self.show_value((max(0.0, start), min(1.0, end)))
        self.edited.emit(self.value())
