"""Regional prompts on the Create page: a part of the image, its prompt and its weight."""

from collections.abc import Sequence
from dataclasses import replace

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFileDialog, QHBoxLayout, QLineEdit, QPushButton, QVBoxLayout, QWidget

from mezzotint.values.regions import MASK_SUFFIXES, MAX_REGION_PROMPT, MAX_REGIONS, WHOLE, RegionRef
from mezzotint_app.resources import icon
from mezzotint_app.viewmodel.create.regions import MASK, MASK_FILE, PARTS, box_of, box_text, next_region, part_of
from mezzotint_app.viewmodel.foreign_text import in_one_line
from mezzotint_app.widgets.icon_button import icon_button
from mezzotint_app.widgets.inputs.choice_box import Choice, ChoiceBox
from mezzotint_app.widgets.inputs.decimal_box import DecimalBox
from mezzotint_app.widgets.inputs.path_list import file_dialog
from mezzotint_app.widgets.inputs.path_row import file_name
from mezzotint_app.widgets.inputs.spin_room import indent
from mezzotint_app.widgets.inputs.wheel_focus import ignore_wheel_without_focus
from mezzotint_app.widgets.labels import plain_label

_NAME = 60  # characters of a file name


class RegionList(QWidget):
    """Emits `edited` with the regions after each change by the user."""

    edited = Signal(tuple)

    def __init__(self) -> None:
        super().__init__()
        self._regions: tuple[RegionRef, ...] = ()
        self._rows: list[RegionRow] = []
        self.add = QPushButton(icon("add"), self.tr("Add region"))
        self.add.setAccessibleName(self.add.text())
        self.add.setToolTip(self.tr("A part of the image that follows a prompt of its own"))
        self.add.clicked.connect(self.add_region)
        self._layout = QVBoxLayout(self)
        self._layout.setContentsMargins(0, 0, 0, 0)
        self._layout.setSpacing(8)
        self._layout.addWidget(self.add, 0, Qt.AlignmentFlag.AlignLeft)

    def show_regions(self, regions: Sequence[RegionRef]) -> None:
        """Show these; existing rows and the focus are kept."""
        self._regions = tuple(regions)
        while len(self._rows) > len(self._regions):
            row = self._rows.pop()
            self._layout.removeWidget(row)
            row.deleteLater()
        while len(self._rows) < len(self._regions):
            self._make_row(len(self._rows))
        for row, region in zip(self._rows, self._regions, strict=True):
            row.show_region(region)
        self.add.setEnabled(len(self._regions) < MAX_REGIONS)

    def rows(self) -> "tuple[RegionRow, ...]":
        """One row per region."""
        return tuple(self._rows)

    def add_region(self) -> None:
        """Add a region, whose prompt is written next."""
        self._emit_edited((*self._regions, next_region(self._regions)))
        self._rows[-1].prompt.setFocus()

    def choose_mask(self, place: int) -> QFileDialog:
        """Open a file dialog for the mask of a region."""
        dialog = file_dialog(self, self.tr("Choose a mask"), MASK_SUFFIXES)
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.fileSelected.connect(lambda path: self._use_mask(place, path))
        dialog.open()
        return dialog

    def _use_mask(self, place: int, path: str) -> None:
        masked = replace(self._regions[place], box=WHOLE, mask=path, mask_sha256=None)
        self._emit_edited((*self._regions[:place], masked, *self._regions[place + 1 :]))

    def _emit_edited(self, regions: tuple[RegionRef, ...]) -> None:
        self.show_regions(regions)  # at once, as the next change builds on it
        self.edited.emit(regions)

    def _make_row(self, place: int) -> None:
        row = RegionRow(place + 1)
        row.edited.connect(
            lambda region: self._emit_edited((*self._regions[:place], region, *self._regions[place + 1 :]))
        )
        row.mask_wanted.connect(lambda: self.choose_mask(place))
        row.removed.connect(lambda: self._remove(place))
        self._rows.append(row)
        self._layout.insertWidget(place, row)

    def _remove(self, place: int) -> None:
        self.add.setFocus()
        self._emit_edited(self._regions[:place] + self._regions[place + 1 :])


class RegionRow(QWidget):
    """One region."""

    edited = Signal(object)  # RegionRef
    mask_wanted = Signal()
    removed = Signal()

    def __init__(self, number: int) -> None:
        super().__init__()
        self._region = RegionRef(box=PARTS["left"], prompt="")
        self._other = False  # whether a box is typed
        self.part = ChoiceBox(self.tr("Part {number}").format(number=number), self.tr("Where the prompt applies"))
        self.prompt = QLineEdit()
        self.prompt.setMaxLength(MAX_REGION_PROMPT)
        self.prompt.setAccessibleName(self.tr("Prompt of region {number}").format(number=number))
        self.prompt.setToolTip(self.tr("What this part shows; the prompt above is for the rest"))
        self.prompt.setPlaceholderText(self.tr("such as a red house"))
        self.weight = DecimalBox()
        self.weight.setRange(0, 1)
        self.weight.setSingleStep(0.1)
        self.weight.setKeyboardTracking(False)
        self.weight.setAccessibleName(self.tr("Weight of region {number}").format(number=number))
        self.weight.setToolTip(self.tr("1: only this prompt; less: the prompt above has the rest"))
        indent(self.weight)
        ignore_wheel_without_focus(self.weight)
        self.box = QLineEdit()
        self.box.setAccessibleName(self.tr("Box of region {number}").format(number=number))
        self.box.setToolTip(self.tr("Left, top, width and height as parts of the image, 0 to 1"))
        self.problem = plain_label(role="error", wrap=True)
        self.problem.hide()
        self._build(number)
        self.part.chosen.connect(self._choose)
        self.prompt.textEdited.connect(lambda text: self._change(prompt=text))
        self.weight.valueChanged.connect(lambda value: self._change(weight=round(value, 3)))
        self.box.editingFinished.connect(self._take_box)

    def show_region(self, region: RegionRef) -> None:
        """Show a region."""
        self._region = region
        named = part_of(region)
        self._other = named != MASK and (self._other or not named)
        self.part.show_choices(self._choices(), "" if self._other else named)
        self.box.setVisible(self._other)
        if not self.box.hasFocus():
            self.box.setText(box_text(region.box))
        if self.prompt.text() != region.prompt:
            self.prompt.setText(region.prompt)
        self.weight.blockSignals(True)
        self.weight.setValue(region.weight)
        self.weight.blockSignals(False)

    def _build(self, number: int) -> None:
        remove = icon_button("remove", self.tr("Remove region {number}").format(number=number))
        remove.clicked.connect(self.removed)
        first = QHBoxLayout()
        first.setSpacing(8)
        first.addWidget(self.part, 1)
        first.addWidget(self.weight)
        first.addWidget(remove)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        column.addLayout(first)
        for widget in (self.box, self.problem, self.prompt):
            column.addWidget(widget)

    def _choices(self) -> list[Choice]:
        names = {
            "left": self.tr("Left half"),
            "right": self.tr("Right half"),
            "top": self.tr("Upper half"),
            "bottom": self.tr("Lower half"),
            "left-third": self.tr("Left third"),
            "middle-third": self.tr("Middle third"),
            "right-third": self.tr("Right third"),
            "centre": self.tr("Centre"),
        }
        parts = [Choice(value=part, name=names[part]) for part in PARTS]
        parts.append(Choice(value="", name=self.tr("Other box")))
        if self._region.mask is not None:
            name = self.tr("Mask {name}").format(name=in_one_line(file_name(self._region.mask), _NAME))
            parts.append(Choice(value=MASK, name=name))
        parts.append(Choice(value=MASK_FILE, name=self.tr("Mask file…")))
        return parts

    def _choose(self, part: object) -> None:
        if part == MASK_FILE:
            self.show_region(self._region)  # until a file is chosen
            self.mask_wanted.emit()
            return
        self._other = part == ""
        if part != MASK:
            self._change(box=PARTS.get(str(part), self._region.box), mask=None, mask_sha256=None)

    def _take_box(self) -> None:
        try:
            box = box_of(self.box.text())
        except ValueError as error:
            self.problem.setText(str(error))
            self.problem.show()
            return
        self.problem.hide()
        self._change(box=box)

    def _change(self, **fields: object) -> None:
        region = replace(self._region, **fields)  # type: ignore[arg-type]
        if region != self._region:
            self._region = region
            self.edited.emit(region)
        self.show_region(region)
