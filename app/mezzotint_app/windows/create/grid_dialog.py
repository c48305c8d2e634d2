"""The dialog for an X/Y/Z grid: up to three settings and their values."""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QGridLayout,
    QLineEdit,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from mezzotint_app.viewmodel.batch.grid import AXES, GridModel
from mezzotint_app.viewmodel.queue.texts import images_count
from mezzotint_app.widgets.inputs.choice_box import Choice, ChoiceBox
from mezzotint_app.widgets.labels import plain_label


class GridDialog(QDialog):
    """Emits `wanted` with the job and its title."""

    wanted = Signal(object, str)  # job (Signal(dict) would sort its keys, and with them the axes), title

    def __init__(self, model: GridModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._model = model
        model.setParent(self)
        self.setWindowTitle(self.tr("Grid"))
        self._count = plain_label(role="muted", wrap=True)
        self._problem = plain_label(role="error", wrap=True)
        self.rows = [self._row(number) for number in range(AXES)]
        column = QVBoxLayout(self)
        column.setContentsMargins(24, 16, 24, 16)
        column.setSpacing(12)
        words = self.tr(
            "An image for each combination of values, and all of them labelled in one image. The other settings are "
            "those of the Create page; without a seed among the values, all have the same."
        )
        column.addWidget(plain_label(words, role="muted", wrap=True))
        column.addLayout(self._table())
        column.addWidget(plain_label(self.tr("Values with commas in them are divided by |."), role="muted", wrap=True))
        column.addStretch(1)
        for widget in (self._count, self._problem, self._buttons()):
            column.addWidget(widget)
        model.changed.connect(self._show)
        self.resize(560, 360)
        self._show()

    def generate_button(self) -> QPushButton:
        """The button that starts the job."""
        return self._generate

    def accept(self) -> None:
        """Start the job."""
        if not self._model.problem():
            self.wanted.emit(self._model.job(), self._model.title())
            super().accept()

    def _row(self, number: int) -> tuple[ChoiceBox, QLineEdit]:
        place = (self.tr("Columns"), self.tr("Rows"), self.tr("Tables"))[number]
        box = ChoiceBox(place, self.tr("The setting that varies"))
        box.setMaxVisibleItems(16)
        line = QLineEdit()
        line.setAccessibleName(self.tr("Values of {place}").format(place=place))
        line.setToolTip(self.tr("Values, divided by commas"))
        box.chosen.connect(lambda value: self._model.set_axis(number, str(value), line.text()))
        line.textEdited.connect(lambda text: self._model.set_axis(number, str(box.value() or ""), text))
        return box, line

    def _table(self) -> QGridLayout:
        table = QGridLayout()
        table.setHorizontalSpacing(8)
        table.setVerticalSpacing(8)
        for number, (box, line) in enumerate(self.rows):
            name = plain_label(box.accessibleName())
            name.setBuddy(box)
            for column, widget in enumerate((name, box, line)):
                table.addWidget(widget, number, column)
        table.setColumnStretch(1, 2)
        table.setColumnStretch(2, 3)
        return table

    def _show(self) -> None:
        choices = [Choice(value="", name=self.tr("none"))]
        choices += [Choice(value=name, name=shown) for name, shown in self._model.settings()]
        for (box, line), axis in zip(self.rows, self._model.axes(), strict=True):
            box.show_choices(choices, axis.setting)
            line.setEnabled(bool(axis.setting))
            if line.text() != axis.values:
                line.setText(axis.values)
        problem = self._model.problem()
        self._problem.setText(problem)
        self._problem.setVisible(bool(problem))
        count, shape = images_count(self._model.count()), self._model.shape()
        shown = self.tr("{count}: {shape}").format(count=count, shape=shape) if "×" in shape else count
        self._count.setText("" if problem else shown)
        self._generate.setEnabled(not problem)
        self._generate.setAccessibleDescription(problem or shown)

    def _buttons(self) -> QDialogButtonBox:
        buttons = QDialogButtonBox()
        self._generate = buttons.addButton(self.tr("Generate grid"), QDialogButtonBox.ButtonRole.AcceptRole)
        self._generate.setProperty("role", "primary")
        self._generate.setToolTip(self.tr("Starts as a batch; the Batch page shows how far it is"))
        cancel = buttons.addButton(self.tr("Cancel"), QDialogButtonBox.ButtonRole.RejectRole)
        cancel.setToolTip(self.tr("Close without generating"))
        buttons.accepted.connect(self.accept)
        buttons.rejected.connect(self.reject)
        return buttons
