"""Width and height: an aspect ratio preset or custom, with or without a locked ratio."""

from collections.abc import Sequence

from PySide6.QtCore import QLocale, Signal
from PySide6.QtWidgets import QHBoxLayout, QSpinBox, QVBoxLayout, QWidget

from mezzotint_app.resources import icon
from mezzotint_app.viewmodel.create.sizes import LARGEST_SIDE, SMALLEST, SizePreset, shape
from mezzotint_app.widgets.icon_button import icon_button
from mezzotint_app.widgets.inputs.choice_box import Choice, ChoiceBox
from mezzotint_app.widgets.inputs.spin_room import indent
from mezzotint_app.widgets.inputs.wheel_focus import ignore_wheel_without_focus
from mezzotint_app.widgets.labels import plain_label

OWN = "own"
FREE = "free"


class SizePicker(QWidget):
    """Emits what the user chose; the shown size is set from outside."""

    default_chosen = Signal()
    preset_chosen = Signal(int, int)
    width_edited = Signal(int)
    height_edited = Signal(int)
    locked = Signal(bool)
    swapped = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._presets = ChoiceBox(self.tr("Aspect ratio"), self.tr("Sizes that suit the model, by aspect ratio"))
        self._presets.chosen.connect(self._chosen)
        self._width = self._side(self.tr("Width in pixels"))
        self._height = self._side(self.tr("Height in pixels"))
        self._width.valueChanged.connect(self.width_edited)
        self._height.valueChanged.connect(self.height_edited)
        self._lock = icon_button("unlock", self.tr("Lock the aspect ratio"), checkable=True)
        self._lock.clicked.connect(self.locked)
        self._swap = icon_button("swap", self.tr("Swap width and height"))
        self._swap.clicked.connect(self.swapped)
        self._description = plain_label(role="muted")
        sides = QHBoxLayout()
        sides.setSpacing(4)
        sides.addWidget(self._width, 1)
        sides.addWidget(plain_label("×", role="muted"))
        sides.addWidget(self._height, 1)
        sides.addWidget(self._lock)
        sides.addWidget(self._swap)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(4)
        layout.addWidget(self._presets)
        layout.addLayout(sides)
        layout.addWidget(self._description)

    def show_size(
        self, size: tuple[int, int], presets: Sequence[SizePreset], own: tuple[int, int], *, is_own: bool, multiple: int
    ) -> None:
        """Show a size and the available presets."""
        width, height = size
        for spin, value in ((self._width, width), (self._height, height)):
            spin.blockSignals(True)
            spin.setSingleStep(multiple)
            spin.setValue(value)
            spin.blockSignals(False)
        named = [Choice(value=(one.width, one.height), name=self._named(one)) for one in presets]
        first = Choice(value=OWN, name=self.tr("Model default: {0} × {1}").format(*own))
        last = Choice(value=FREE, name=self.tr("Custom"))
        known = any(one.value == size for one in named)
        self._presets.show_choices([first, *named, last], OWN if is_own else size if known else FREE)
        pixels = QLocale().toString(width * height / 1e6, "f", 2)
        self._description.setText(
            self.tr("{shape}, {pixels} megapixels").format(shape=shape(width, height), pixels=pixels)
        )

    def show_lock(self, is_locked: bool) -> None:
        """Show whether the aspect ratio is locked."""
        self._lock.setChecked(is_locked)
        self._lock.setIcon(icon("lock" if is_locked else "unlock"))

    def parts(self) -> dict[str, QWidget]:
        """The controls by name."""
        return {
            "presets": self._presets,
            "width": self._width,
            "height": self._height,
            "lock": self._lock,
            "swap": self._swap,
        }

    def _side(self, name: str) -> QSpinBox:
        spin = QSpinBox()
        spin.setRange(SMALLEST, LARGEST_SIDE)
        spin.setKeyboardTracking(False)
        spin.setAccessibleName(name)
        spin.setToolTip(name)
        ignore_wheel_without_focus(spin)
        indent(spin)
        return spin

    def _named(self, preset: SizePreset) -> str:
        across = preset.width - preset.height
        words = self.tr("landscape") if across > 0 else self.tr("portrait") if across < 0 else self.tr("square")
        return f"{preset.name} {words}: {preset.width} × {preset.height}"

    def _chosen(self, value: object) -> None:
        if value == OWN:
            self.default_chosen.emit()
        elif isinstance(value, tuple):
            self.preset_chosen.emit(*value)
        else:
            self._width.setFocus()
