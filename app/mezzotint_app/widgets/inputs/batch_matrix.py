"""The batch matrix: settings with several values each, which are combined with every image."""

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QVBoxLayout, QWidget

from mezzotint_app.viewmodel.batch.form import MatrixRow
from mezzotint_app.widgets.inputs.choice_box import Choice, ChoiceBox

MAX_ROWS = 6  # lines offered here; a job may have more


class BatchMatrix(QWidget):
    """Has one more line than there are settings, for another setting."""

    edited = Signal(tuple)  # MatrixRows

    def __init__(self) -> None:
        super().__init__()
        self._rows: list[tuple[ChoiceBox, QLineEdit]] = []
        self._layout = QVBoxLayout(self)
        self._layout.setContentsMargins(0, 0, 0, 0)
        self._layout.setSpacing(8)
        self.show_rows(())

    def show_rows(self, rows: Sequence[MatrixRow]) -> None:
        """Show these rows and an empty one."""
        wanted = [*rows, *([MatrixRow()] if len(rows) < MAX_ROWS else [])]
        while len(self._rows) < len(wanted):
            self._add()
        for (box, line), row in zip(self._rows, wanted, strict=False):
            box.show_choices(self._choices(), row.setting)
            if line.text() != row.values:
                line.setText(row.values)
        for number, (box, _) in enumerate(self._rows):
            holder = box.parentWidget()
            if holder is not None:
                holder.setVisible(number < len(wanted))

    def rows(self) -> list[tuple[ChoiceBox, QLineEdit]]:
        """The controls of each line."""
        return self._rows

    def _choices(self) -> list[Choice]:
        return [
            Choice(value="", name=self.tr("none")),
            Choice(value="seed", name=self.tr("Seed")),
            Choice(value="steps", name=self.tr("Steps")),
            Choice(value="guidance", name=self.tr("CFG scale")),
            Choice(value="strength", name=self.tr("Strength")),
            Choice(value="sampler", name=self.tr("Sampler")),
            Choice(value="schedule", name=self.tr("Schedule")),
            Choice(value="model", name=self.tr("Model")),
            Choice(value="size", name=self.tr("Size")),
            Choice(value="hires", name=self.tr("Hires fix")),
        ]

    def _add(self) -> None:
        number = len(self._rows) + 1
        box = ChoiceBox(self.tr("Setting {number}").format(number=number), self.tr("A setting with several values"))
        box.setMinimumContentsLength(6)
        line = QLineEdit()
        line.setAccessibleName(self.tr("Values of setting {number}").format(number=number))
        line.setToolTip(self.tr("Values separated by commas; every image is generated with each of them"))
        line.setPlaceholderText(self.tr("such as 20, 30"))
        holder = QWidget()
        row = QHBoxLayout(holder)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(8)
        row.addWidget(box, 2)
        row.addWidget(line, 3)
        self._layout.addWidget(holder)
        self._rows.append((box, line))
        box.chosen.connect(lambda _value: self._emit_edited())
        line.editingFinished.connect(self._emit_edited)

    def _emit_edited(self) -> None:
        rows = [MatrixRow(setting=str(box.value() or ""), values=line.text()) for box, line in self._rows]
        self.edited.emit(tuple(row for row in rows if row.setting))
