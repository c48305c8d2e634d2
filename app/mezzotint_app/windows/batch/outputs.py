"""The output of a batch: folder, file names and format; also shows the generation settings in one line."""

from PySide6.QtWidgets import QCheckBox, QLineEdit, QVBoxLayout, QWidget

from mezzotint_app.resources import icon
from mezzotint_app.viewmodel.batch.batch import BatchModel
from mezzotint_app.viewmodel.batch.form import BatchForm, can_be_grid
from mezzotint_app.viewmodel.batch.texts import short_path
from mezzotint_app.widgets.collapsible_section import CollapsibleSection
from mezzotint_app.widgets.elided_button import ElidedButton
from mezzotint_app.widgets.inputs.batch_path import BatchPath
from mezzotint_app.widgets.inputs.choice_box import Choice, ChoiceBox
from mezzotint_app.widgets.inputs.field import Field
from mezzotint_app.widgets.labels import plain_label


class BatchOutputs(QWidget):
    """Shows the second half of a BatchForm."""

    def __init__(self, model: BatchModel) -> None:
        super().__init__()
        self._model = model
        self.settings = plain_label(wrap=True, role="muted", selectable=True)
        self.take = ElidedButton()
        self.take.setText(self.tr("Copy settings from Create"))
        self.take.setIcon(icon("reuse"))
        self.take.setAccessibleName(self.take.text())
        self.take.setToolTip(
            self.tr("Copy model, size, steps and all other settings as they are on the Create page now")
        )
        self.output = BatchPath(
            self.tr("Output folder"),
            self.tr("Where images are saved; running again with the same folder generates only missing images"),
            "folder",
        )
        self.name = QLineEdit()
        self.name.setAccessibleName(self.tr("File names"))
        self.name.setPlaceholderText(self.tr("from the source images or prompts"))
        self.format = ChoiceBox(self.tr("Format"), self.tr("PNG is lossless; the others are smaller"))
        self.existing = ChoiceBox(
            self.tr("If a file exists"),
            self.tr("Images of this batch are never generated twice; this applies to other files"),
        )
        self.keep_tree = QCheckBox(self.tr("Keep subfolders"))
        self.keep_tree.setAccessibleName(self.keep_tree.text())
        self.keep_tree.setToolTip(
            self.tr("Save new images in the same subfolders as their sources; otherwise all go into one folder")
        )
        self.grid = QCheckBox(self.tr("Also a labelled grid"))
        self.grid.setAccessibleName(self.grid.text())
        self.grid.setToolTip(self.tr("One image of all, by the settings with several values: up to three, or prompts"))
        self.cards = QCheckBox(self.tr("Use all GPUs"))
        self.cards.setAccessibleName(self.cards.text())
        self.cards.setToolTip(self.tr("Every GPU generates images of this batch at the same time"))
        self._build()
        self._connect()

    def show_form(self, form: BatchForm) -> None:
        """Show the form's values."""
        self.settings.setText(self._model.words_of_settings())
        self.output.show_path(form.output, short_path(self._model.output()))
        pattern = "[stem]-[seed]" if form.source == "folder" else "[prompt]-[seed]"  # prompts have no file stem
        self.name.setToolTip(
            self.tr("A pattern such as {pattern}; the extension follows from the format").format(pattern=pattern)
        )
        if self.name.text() != form.name:
            self.name.setText(form.name)
        self.format.show_choices(
            [
                Choice(value="png", name="PNG"),
                Choice(value="jpg", name="JPEG"),
                Choice(value="webp", name="WebP"),
            ],
            form.format,
        )
        self.existing.show_choices(
            [
                Choice(value="rename", name=self.tr("Rename the new image")),
                Choice(value="skip", name=self.tr("Skip")),
                Choice(value="overwrite", name=self.tr("Overwrite")),
            ],
            form.existing,
        )
        self.keep_tree.blockSignals(True)
        self.keep_tree.setChecked(form.keep_tree)
        self.keep_tree.blockSignals(False)
        self.keep_tree.setVisible(form.source == "folder" and form.recursive)
        self.grid.blockSignals(True)
        self.grid.setChecked(form.grid)
        self.grid.blockSignals(False)
        self.grid.setVisible(can_be_grid(form))
        self.cards.blockSignals(True)
        self.cards.setChecked(form.all_cards)
        self.cards.blockSignals(False)
        self.cards.setVisible(self._model.cards() > 1)
        names = [form.name, form.format.upper() if form.format != "png" else ""]
        self._names.set_summary(", ".join(part for part in names if part))

    def _build(self) -> None:
        body = QWidget()
        inside = QVBoxLayout(body)
        inside.setContentsMargins(0, 0, 0, 0)
        inside.setSpacing(8)
        for part in (
            Field(self.tr("File names"), self.name),
            Field(self.tr("Format"), self.format),
            Field(self.tr("If a file exists"), self.existing),
            self.keep_tree,
        ):
            inside.addWidget(part)
        self._names = CollapsibleSection(
            self.tr("File names and format"), self.tr("File name pattern, format, existing files"), body
        )
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(8)
        layout.addWidget(plain_label(self.tr("Settings")))
        layout.addWidget(self.settings)
        layout.addWidget(self.take)
        layout.addWidget(self.cards)
        layout.addWidget(self.grid)
        layout.addSpacing(4)
        layout.addWidget(Field(self.tr("Output folder"), self.output))
        layout.addWidget(self._names)

    def _connect(self) -> None:
        change = self._model.change
        self.take.clicked.connect(self._model.take_settings)
        self.output.edited.connect(lambda path: change(output=path))
        self.name.editingFinished.connect(lambda: change(name=self.name.text()))
        self.format.chosen.connect(lambda value: change(format=value))
        self.existing.chosen.connect(lambda value: change(existing=value))
        self.grid.toggled.connect(lambda checked: change(grid=checked))
        self.cards.toggled.connect(lambda checked: change(all_cards=checked))
        self.keep_tree.toggled.connect(lambda checked: change(keep_tree=checked))
