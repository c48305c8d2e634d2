"""A number set by slider or by keyboard."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QDoubleSpinBox, QHBoxLayout, QSlider, QWidget

from mezzotint_app.widgets.inputs.decimal_box import DecimalBox
from mezzotint_app.widgets.inputs.spin_room import indent
from mezzotint_app.widgets.inputs.wheel_focus import ignore_wheel_without_focus

_NUMBER = 96  # pixels of the number field, equal in all rows


class SliderSpin(QWidget):
    """Shows a value or the model default; `edited` emits what the user chose."""

    edited = Signal(float)

    def __init__(
        self,
        name: str,
        tip: str,
        *,
        low: float,
        high: float,
        step: float,
        decimals: int = 0,
        bottom: float | None = None,
        top: float | None = None,
    ) -> None:
        """`bottom` and `top` are the ends of the slider, if the number may go beyond the usual range."""
        super().__init__()
        self._step = step
        self._bottom = low if bottom is None else bottom
        self._slider = QSlider(Qt.Orientation.Horizontal)
        self._slider.setRange(0, round(((high if top is None else top) - self._bottom) / step))
        self._slider.setPageStep(max(1, self._slider.maximum() // 10))
        self._spin = DecimalBox()
        self._spin.setDecimals(decimals)
        self._spin.setRange(low, high)
        self._spin.setSingleStep(step)
        self._spin.setKeyboardTracking(False)
        self._spin.setFixedWidth(_NUMBER)
        indent(self._spin)
        for widget, said in ((self._slider, self.tr("{name}, slider").format(name=name)), (self._spin, name)):
            widget.setAccessibleName(said)
            widget.setToolTip(tip)
            ignore_wheel_without_focus(widget)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(8)
        row.addWidget(self._slider, 1)
        row.addWidget(self._spin)
        self._slider.valueChanged.connect(self._slid)
        self._spin.valueChanged.connect(self._typed)

    def value(self) -> float:
        """The shown value."""
        return self._spin.value()

    def show_value(self, value: float) -> None:
        """Show a value without emitting `edited`."""
        for widget in (self._slider, self._spin):
            widget.blockSignals(True)
        self._spin.setValue(value)
        self._slider.setValue(self._place(value))
        for widget in (self._slider, self._spin):
            widget.blockSignals(False)

    def spin(self) -> QDoubleSpinBox:
        """The number field."""
        return self._spin

    def slider(self) -> QSlider:
        """The slider."""
        return self._slider

    def _place(self, value: float) -> int:
        return round((value - self._bottom) / self._step)

    def _slid(self, place: int) -> None:
        value = round(self._bottom + place * self._step, 6)
        self._spin.blockSignals(True)
        self._spin.setValue(value)
        self._spin.blockSignals(False)
        self.edited.emit(self._spin.value())

    def _typed(self, value: float) -> None:
        self._slider.blockSignals(True)
        self._slider.setValue(self._place(value))
        self._slider.blockSignals(False)
        self.edited.emit(value)
