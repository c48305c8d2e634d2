"""The list of LoRAs: order, on or off, and weight; files are added by dialog or drag and drop."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import QCheckBox, QFileDialog, QFrame, QHBoxLayout, QVBoxLayout, QWidget

from mezzotint_app.viewmodel.create.state import LoraChoice
from mezzotint_app.viewmodel.dropped.data import DropData
from mezzotint_app.viewmodel.foreign_text import plain_tooltip
from mezzotint_app.widgets.drop_area import DropArea
from mezzotint_app.widgets.icon_button import icon_button, text_button
from mezzotint_app.widgets.inputs.path_list import file_dialog
from mezzotint_app.widgets.inputs.path_row import file_name
from mezzotint_app.widgets.inputs.slider_spin import SliderSpin

_ENDINGS = (".safetensors",)
_USUAL = 2.0  # the end of the slider; the number may be larger
_LARGEST = 100.0
_STEP = 0.05


class LoraList(DropArea):
    """Emits `edited` with the LoRAs after each change by the user."""

    edited = Signal(tuple)
    browse_wanted = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._loras: tuple[LoraChoice, ...] = ()
        self._rows: list[LoraRow] = []
        self._add = text_button("add", self.tr("Add LoRA…"), self.tr("Choose LoRA files, or drop them here"))
        self._add.clicked.connect(self.choose)
        self._layout = QVBoxLayout(self)
        self._layout.setContentsMargins(0, 0, 0, 0)
        self._layout.setSpacing(8)
        tip = self.tr("All LoRAs found, with thumbnails and trigger words")
        self.browse_button = text_button("search", self.tr("Browse…"), tip)
        self.browse_button.clicked.connect(self.browse_wanted)
        row = QHBoxLayout()
        row.addWidget(self._add)
        row.addWidget(self.browse_button)
        row.addStretch(1)
        self._layout.addLayout(row)
        self.dropped.connect(self.take)

    def show_loras(self, loras: Sequence[LoraChoice]) -> None:
        """Show these LoRAs; existing rows and the focus are kept."""
        self._loras = tuple(loras)
        while len(self._rows) > len(self._loras):
            row = self._rows.pop()
            self._layout.removeWidget(row)
            row.deleteLater()
        while len(self._rows) < len(self._loras):
            self._make_row(len(self._rows))
        for place, (row, lora) in enumerate(zip(self._rows, self._loras, strict=True)):
            row.show_lora(lora, first=place == 0, last=place == len(self._loras) - 1)

    def rows(self) -> "tuple[LoraRow, ...]":
        """One row per LoRA."""
        return tuple(self._rows)

    def take(self, data: DropData) -> None:
        """Add dropped files."""
        self.add(path for path in data.paths if path.lower().endswith(_ENDINGS))

    def add(self, paths: Iterable[str]) -> None:
        """Add files that are not in the list yet, with a weight of 1."""
        known = {one.path for one in self._loras}
        new = tuple(LoraChoice(path=path) for path in dict.fromkeys(paths) if path not in known)
        if new:
            self._emit_edited(self._loras + new)

    def choose(self) -> QFileDialog:
        """Open a file dialog."""
        dialog = file_dialog(self, self.tr("Choose LoRAs"), _ENDINGS)
        dialog.filesSelected.connect(self.add)
        dialog.open()
        return dialog

    def _emit_edited(self, loras: tuple[LoraChoice, ...]) -> None:
        self.show_loras(loras)  # at once, as the next change builds on it
        self.edited.emit(loras)

    def _make_row(self, place: int) -> None:
        row = LoraRow()
        row.switched.connect(lambda on: self._replace(place, on=on))
        row.weighed.connect(lambda weight: self._replace(place, weight=weight))
        row.moved.connect(lambda by: self._move(place, by))
        row.removed.connect(lambda: self._remove(place))
        self._rows.append(row)
        self._layout.insertWidget(place, row)

    def _replace(self, place: int, **fields: float | bool) -> None:
        changed = replace(self._loras[place], **fields)  # type: ignore[arg-type]
        self._emit_edited((*self._loras[:place], changed, *self._loras[place + 1 :]))

    def _move(self, place: int, by: int) -> None:
        other = place + by
        if not 0 <= other < len(self._loras):
            return
        order = list(self._loras)
        order[place], order[other] = order[other], order[place]
        self._rows[other].follow(by)
        self._emit_edited(tuple(order))

    def _remove(self, place: int) -> None:
        self._add.setFocus()
        self._emit_edited(self._loras[:place] + self._loras[place + 1 :])


class LoraRow(QFrame):
    """A LoRA with its weight."""

    switched = Signal(bool)
    weighed = Signal(float)
    moved = Signal(int)
    removed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("role", "card")
        self._on = QCheckBox()
        self._on.clicked.connect(self.switched)
        self._name = ""
        self._weight = SliderSpin(
            self.tr("Weight"),
            self.tr(
                "Strength of the LoRA; negative values push away from what it was trained for. Ctrl and mouse wheel"
                " over the row change it"
            ),
            low=-_LARGEST,
            high=_LARGEST,
            bottom=-_USUAL,
            top=_USUAL,
            step=_STEP,
            decimals=2,
        )
        self._weight.edited.connect(self.weighed)
        self._up = icon_button("up", self.tr("Move up"))
        self._down = icon_button("down", self.tr("Move down"))
        self._remove = icon_button("remove", self.tr("Remove"))
        self._up.clicked.connect(lambda: self.moved.emit(-1))
        self._down.clicked.connect(lambda: self.moved.emit(1))
        self._remove.clicked.connect(self.removed)
        self._build()

    def show_lora(self, lora: LoraChoice, *, first: bool, last: bool) -> None:
        """Show a LoRA; the first cannot move up, the last cannot move down."""
        self._name = file_name(lora.path)
        self._on.setChecked(lora.on)
        self._on.setAccessibleName(self.tr("Use LoRA {name}").format(name=self._name))
        self._on.setToolTip(plain_tooltip(lora.path))
        self._weight.show_value(lora.weight)
        self._weight.spin().setAccessibleName(self.tr("Weight of {name}").format(name=self._name))
        self._weight.slider().setAccessibleName(self.tr("Weight of {name}, slider").format(name=self._name))
        self._weight.setEnabled(lora.on)
        self._up.setEnabled(not first)
        self._down.setEnabled(not last)
        self._remove.setAccessibleName(self.tr("Remove {name}").format(name=self._name))
        self._elide()

    def wheelEvent(self, event: QWheelEvent) -> None:  # noqa: N802  Qt's name
        """Change the weight, with Ctrl or while the row has the focus; otherwise the page scrolls."""
        steps = event.angleDelta().y() / 120
        held = event.modifiers() & Qt.KeyboardModifier.ControlModifier or self._has_focus()
        if not held or not steps or not self._weight.isEnabled():
            event.ignore()
            return
        event.accept()
        self._weight.spin().setValue(self._weight.value() + steps * _STEP)

    def follow(self, by: int) -> None:
        """Give the focus to the button that moved a LoRA into this row."""
        (self._up if by < 0 else self._down).setFocus()

    def parts(self) -> dict[str, QWidget]:
        """The controls by name."""
        return {
            "on": self._on,
            "weight": self._weight,
            "up": self._up,
            "down": self._down,
            "remove": self._remove,
        }

    def resizeEvent(self, event: object) -> None:  # noqa: N802, ARG002
        """Elide the name to fit."""
        self._elide()

    def _has_focus(self) -> bool:
        focus = self.window().focusWidget()
        return focus is not None and self.isAncestorOf(focus)

    def _build(self) -> None:
        head = QHBoxLayout()
        head.setSpacing(0)
        head.addWidget(self._on, 1)
        for button in (self._up, self._down, self._remove):
            head.addWidget(button)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(8, 4, 8, 8)
        layout.setSpacing(4)
        layout.addLayout(head)
        layout.addWidget(self._weight)
        self._on.setMinimumWidth(40)

    def _elide(self) -> None:
        room = max(self._on.width() - 36, 0)
        shown = self.fontMetrics().elidedText(self._name, Qt.TextElideMode.ElideMiddle, room) if room else self._name
        self._on.setText(shown.replace("&", "&&"))  # escaped, as an ampersand would define a shortcut
