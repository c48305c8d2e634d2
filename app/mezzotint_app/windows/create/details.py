"""Detail passes on the Create page: what is found in the finished image, and inpainted at full size."""

from collections.abc import Sequence
from dataclasses import replace

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QCompleter, QHBoxLayout, QLineEdit, QPushButton, QVBoxLayout, QWidget

from mezzotint.values.details import MAX_DETAILS, DetailRef
from mezzotint_app.resources import icon
from mezzotint_app.widgets.icon_button import icon_button
from mezzotint_app.widgets.inputs.decimal_box import DecimalBox
from mezzotint_app.widgets.inputs.spin_room import indent
from mezzotint_app.widgets.inputs.wheel_focus import ignore_wheel_without_focus

USUAL_LABELS = ("person", "face", "hand", "cat", "dog")
_LONGEST = 200  # characters of a label
_LONGEST_PROMPT = 65_536


class DetailList(QWidget):
    """Emits `edited` with the detail passes after each change by the user."""

    edited = Signal(tuple)

    def __init__(self) -> None:
        super().__init__()
        self._details: tuple[DetailRef, ...] = ()
        self._rows: list[DetailRow] = []
        self.add = QPushButton(icon("add"), self.tr("Add detail pass"))
        self.add.setAccessibleName(self.add.text())
        self.add.setToolTip(self.tr("Finds objects of a kind in the finished image and makes each anew at full size"))
        self.add.clicked.connect(self._add)
        self._layout = QVBoxLayout(self)
        self._layout.setContentsMargins(0, 0, 0, 0)
        self._layout.setSpacing(8)
        self._layout.addWidget(self.add, 0, Qt.AlignmentFlag.AlignLeft)

    def show_details(self, details: Sequence[DetailRef]) -> None:
        """Show these; existing rows and the focus are kept."""
        self._details = tuple(details)
        while len(self._rows) > len(self._details):
            row = self._rows.pop()
            self._layout.removeWidget(row)
            row.deleteLater()
        while len(self._rows) < len(self._details):
            self._make_row(len(self._rows))
        for row, detail in zip(self._rows, self._details, strict=True):
            row.show_detail(detail)
        self.add.setEnabled(len(self._details) < MAX_DETAILS)

    def rows(self) -> "tuple[DetailRow, ...]":
        """One row per detail pass."""
        return tuple(self._rows)

    def _add(self) -> None:
        taken = {detail.label for detail in self._details}
        label = next((label for label in USUAL_LABELS if label not in taken), "")
        self._emit_edited((*self._details, DetailRef(label=label)))

    def _emit_edited(self, details: tuple[DetailRef, ...]) -> None:
        self.show_details(details)  # at once, as the next change builds on it
        self.edited.emit(details)

    def _make_row(self, place: int) -> None:
        row = DetailRow(place + 1)
        row.edited.connect(
            lambda detail: self._emit_edited((*self._details[:place], detail, *self._details[place + 1 :]))
        )
        row.removed.connect(lambda: self._remove(place))
        self._rows.append(row)
        self._layout.insertWidget(place, row)

    def _remove(self, place: int) -> None:
        self.add.setFocus()
        self._emit_edited(self._details[:place] + self._details[place + 1 :])


class DetailRow(QWidget):
    """One detail pass; its detector and padding come with an image's settings, and stay."""

    edited = Signal(object)  # DetailRef
    removed = Signal()

    def __init__(self, number: int) -> None:
        super().__init__()
        self._detail = DetailRef(label="")
        self.label = QLineEdit()
        self.label.setMaxLength(_LONGEST)
        self.label.setPlaceholderText(self.tr("such as face"))
        self.label.setCompleter(QCompleter(USUAL_LABELS, self.label))
        self.label.setAccessibleName(self.tr("What is found {number}").format(number=number))
        self.label.setToolTip(self.tr("A label of a detector among your models, such as person"))
        self.strength = self._number(
            self.tr("Strength of detail pass {number}").format(number=number),
            self.tr("Denoising strength: low sharpens, high invents"),
            self.tr("strength "),
        )
        self.confidence = self._number(
            self.tr("Confidence of detail pass {number}").format(number=number),
            self.tr("How sure the detector must be: 0 takes everything, 1 nothing"),
            self.tr("confidence "),
        )
        self.prompt = QLineEdit()
        self.prompt.setMaxLength(_LONGEST_PROMPT)
        self.prompt.setAccessibleName(self.tr("Prompt of detail pass {number}").format(number=number))
        self.prompt.setToolTip(self.tr("What the found parts show"))
        self.prompt.setPlaceholderText(self.tr("the image's prompt"))
        self._build(number)
        self.label.textChanged.connect(lambda text: self._change(label=text.strip()))
        self.strength.valueChanged.connect(lambda value: self._change(strength=round(value, 3)))
        self.confidence.valueChanged.connect(lambda value: self._change(confidence=round(value, 3)))
        self.prompt.textEdited.connect(lambda text: self._change(prompt=text or None))

    def show_detail(self, detail: DetailRef) -> None:
        """Show a detail pass."""
        self._detail = detail
        for widget in (self.label, self.strength, self.confidence):
            widget.blockSignals(True)
        if self.label.text().strip() != detail.label:
            self.label.setText(detail.label)
        self.strength.setValue(detail.strength)
        self.confidence.setValue(detail.confidence)
        for widget in (self.label, self.strength, self.confidence):
            widget.blockSignals(False)
        if self.prompt.text() != (detail.prompt or ""):
            self.prompt.setText(detail.prompt or "")

    def _number(self, name: str, tip: str, prefix: str) -> DecimalBox:
        field = DecimalBox()
        field.setRange(0, 1)
        field.setSingleStep(0.05)
        field.setPrefix(prefix)
        field.setKeyboardTracking(False)
        field.setAccessibleName(name)
        field.setToolTip(tip)
        indent(field)
        ignore_wheel_without_focus(field)
        return field

    def _build(self, number: int) -> None:
        remove = icon_button("remove", self.tr("Remove detail pass {number}").format(number=number))
        remove.clicked.connect(self.removed)
        first, second = QHBoxLayout(), QHBoxLayout()
        first.addWidget(self.label, 1)
        first.addWidget(remove)
        second.addWidget(self.strength, 1)
        second.addWidget(self.confidence, 1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        for row in (first, second):
            row.setSpacing(8)
            column.addLayout(row)
        column.addWidget(self.prompt)

    def _change(self, **fields: object) -> None:
        detail = replace(self._detail, **fields)  # type: ignore[arg-type]
        if detail.label != self._detail.label:
            detail = replace(detail, model=None, sha256=None)  # of a detector that may not know it
        if detail != self._detail:
            self._detail = detail
            self.edited.emit(detail)
