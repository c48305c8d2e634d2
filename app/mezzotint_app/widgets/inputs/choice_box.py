"""A combo box that still shows the current value if it is no longer offered."""

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QStandardItem, QStandardItemModel
from PySide6.QtWidgets import QComboBox, QSizePolicy

from mezzotint_app.viewmodel.foreign_text import plain_tooltip
from mezzotint_app.widgets.inputs.wheel_focus import ignore_wheel_without_focus


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """An item of the list."""

    value: object
    name: str
    problem: str = ""  # why it cannot be chosen


class ChoiceBox(QComboBox):
    """Emits `chosen` when the user chooses a value, but not from `show_choices`."""

    chosen = Signal(object)

    def __init__(self, name: str, tip: str) -> None:
        super().__init__()
        self._choices: tuple[Choice, ...] = ()
        self._rows = QStandardItemModel(self)
        self.setModel(self._rows)
        self.setAccessibleName(name)
        self.setToolTip(tip)
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.setMinimumContentsLength(10)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.activated.connect(self._activated)
        ignore_wheel_without_focus(self)

    def show_choices(self, choices: Sequence[Choice], value: object) -> None:
        """Offer these choices with `value` selected, adding it if it is not one of them."""
        wanted = tuple(choices)
        if all(one.value != value for one in wanted):
            wanted = (*wanted, Choice(value=value, name=str(value)))
        if wanted != self._choices:
            self._choices = wanted
            self._rows.clear()
            for one in wanted:
                self._rows.appendRow(_row(one))
        place = next(place for place, one in enumerate(wanted) if one.value == value)
        if place != self.currentIndex():
            self.setCurrentIndex(place)

    def value(self) -> object:
        """The selected value."""
        return self._choices[self.currentIndex()].value if self._choices else None

    def choices(self) -> tuple[Choice, ...]:
        """The offered choices."""
        return self._choices

    def choose(self, value: object) -> None:
        """Select a value and emit `chosen`, as if the user had done so."""
        place = next(place for place, one in enumerate(self._choices) if one.value == value)
        self.setCurrentIndex(place)
        self._activated(place)

    def _activated(self, place: int) -> None:
        self.chosen.emit(self._choices[place].value)


def _row(choice: Choice) -> QStandardItem:
    row = QStandardItem(choice.name)
    row.setData(plain_tooltip(choice.problem or choice.name), Qt.ItemDataRole.ToolTipRole)
    if choice.problem:
        row.setEnabled(False)
        row.setData(choice.problem, Qt.ItemDataRole.AccessibleDescriptionRole)
    return row
