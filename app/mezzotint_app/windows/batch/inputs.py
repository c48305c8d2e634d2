"""The input of a batch: an image folder, prompts or both, and a matrix of settings."""

from typing import Any

from PySide6.QtWidgets import QCheckBox, QLineEdit, QPlainTextEdit, QSpinBox, QVBoxLayout, QWidget

from mezzotint_app.viewmodel.batch.batch import BatchModel
from mezzotint_app.viewmodel.batch.form import MOST_LIMIT, BatchForm
from mezzotint_app.widgets.collapsible_section import CollapsibleSection
from mezzotint_app.widgets.inputs.batch_matrix import BatchMatrix
from mezzotint_app.widgets.inputs.batch_path import BatchPath
from mezzotint_app.widgets.inputs.choice_box import Choice, ChoiceBox
from mezzotint_app.widgets.inputs.field import Field
from mezzotint_app.widgets.inputs.slider_spin import SliderSpin
from mezzotint_app.widgets.inputs.spin_room import indent
from mezzotint_app.widgets.inputs.wheel_focus import ignore_wheel_without_focus
from mezzotint_app.widgets.labels import plain_label

_LINES = 5  # lines of the prompt editor


class BatchInputs(QWidget):
    """Shows the first half of a BatchForm and forwards changes."""

    def __init__(self, model: BatchModel) -> None:
        super().__init__()
        self._model = model
        self._make_source()
        self._make_folder()
        self._make_words()
        self.matrix = BatchMatrix()
        self._matrix_field = Field(self.tr("Values to combine"), self.matrix)
        self._build()
        self._connect()

    def fields(self) -> dict[str, Field]:
        """The fields by the names used in problems."""
        return {
            "folder": self._fields["folder"],
            "prompts": self._fields["prompts"],
            "template": self._fields["template"],
            "matrix": self._matrix_field,
        }

    def show_form(self, form: BatchForm) -> None:
        """Show the form's values."""
        self.source.show_choices(self._sources(form), form.source)
        self.work.show_choices(self._works(), form.work)
        is_folder, is_change = form.source == "folder", form.work == "change"
        for name in ("folder", "work"):
            self._fields[name].setVisible(is_folder)
        self._fields["strength"].setVisible(is_folder and is_change)
        self._which.setVisible(is_folder)
        self._fields["masks"].setVisible(is_change)
        self._requests.setVisible(form.source == "requests")
        for part in (self._fields["prompts"], self._files):
            part.setVisible(form.source != "requests")
        self.folder.show_path(form.folder, self.tr("choose a folder, or drop it here"))
        self.masks.show_path(form.masks, self.tr("none"))
        self.strength.show_value(form.strength)
        self._show_values(form)
        words = self.tr("Images listed in the job file: %n", "", len(form.requests))
        self._requests.setText(words)
        self.matrix.show_rows(form.matrix)
        self._show_summaries(form)

    # ---- setup

    def _make_source(self) -> None:
        self.source = ChoiceBox(self.tr("Source"), self.tr("What the images are generated from"))
        self._requests = plain_label(role="muted", wrap=True)
        self._fields = {"source": Field(self.tr("Source"), self.source)}

    def _make_folder(self) -> None:
        self.folder = BatchPath(
            self.tr("Image folder"),
            self.tr("Every image in it is used; the originals are not changed"),
            "folder",
        )
        self.work = ChoiceBox(self.tr("Action"), self.tr("What to do with each image"))
        self.strength = SliderSpin(
            self.tr("Denoising strength"),
            self.tr("How much an image is changed: 0 keeps it as it is, 1 replaces it completely"),
            low=0, high=1, step=0.05, decimals=2,
        )  # fmt: skip
        self.recursive = self._check(self.tr("Include subfolders"), self.tr("Also use the images in its subfolders"))
        self.sidecars = self._check(
            self.tr("Prompts from text files"),
            self.tr("NAME.txt next to NAME.png holds its prompt, which replaces the prompts below"),
        )
        self.watch = self._check(
            self.tr("Wait for new images"),
            self.tr("When all images are done, continue with images that are added to the folder, until stopped"),
        )
        self.glob = QLineEdit()
        self.glob.setAccessibleName(self.tr("File name filter"))
        self.glob.setPlaceholderText(self.tr("all images"))
        self.glob.setToolTip(self.tr("File name patterns separated by semicolons, such as *.png; holiday*"))
        self.limit = QSpinBox()
        self.limit.setRange(0, MOST_LIMIT)
        self.limit.setSpecialValueText(self.tr("all"))
        self.limit.setAccessibleName(self.tr("Maximum images"))
        self.limit.setToolTip(self.tr("Use only the first images of the folder, up to this number"))
        self.limit.setKeyboardTracking(False)
        ignore_wheel_without_focus(self.limit)
        indent(self.limit)
        self.masks = BatchPath(
            self.tr("Mask folder"),
            self.tr("Masks with the same file names as the images; only white areas are inpainted"),
            "folder",
        )
        self._fields |= {
            "folder": Field(self.tr("Image folder"), self.folder),
            "work": Field(self.tr("Action"), self.work),
            "strength": Field(self.tr("Denoising strength"), self.strength),
            "glob": Field(self.tr("File name filter"), self.glob),
            "limit": Field(self.tr("Maximum images"), self.limit),
            "masks": Field(self.tr("Mask folder"), self.masks),
        }
        body = _column(
            self.recursive,
            self.sidecars,
            self.watch,
            self._fields["glob"],
            self._fields["limit"],
            self._fields["masks"],
        )
        self._which = CollapsibleSection(
            self.tr("Image selection"), self.tr("Subfolders, file name filter, masks, text files"), body
        )

    def _make_words(self) -> None:
        self.prompts = QPlainTextEdit()
        self.prompts.setAccessibleName(self.tr("Prompts, one per line"))
        self.prompts.setTabChangesFocus(True)
        self.prompts.setToolTip(self.tr("Each line is a prompt of its own. {a|b} and __NAME__ stand for alternatives"))
        self.prompts.setFixedHeight(self.prompts.fontMetrics().lineSpacing() * _LINES + 22)
        self.prompts_file = BatchPath(
            self.tr("Prompt file"), self.tr("A text file with one prompt per line"), "file", patterns="*.txt"
        )
        self.table = BatchPath(
            self.tr("Table"),
            self.tr("One row per image; columns fill in the prompt template, or are settings by name"),
            "file",
            patterns="*.csv *.tsv *.jsonl",
        )
        self.template = QLineEdit()
        self.template.setAccessibleName(self.tr("Prompt template"))
        self.template.setPlaceholderText(self.tr("such as: a {colour} {animal}"))
        self.template.setToolTip(self.tr("A prompt with column names in braces; if empty, the prompt column is used"))
        self.wildcards = BatchPath(
            self.tr("Wildcard folder"), self.tr("NAME.txt in it lists the alternatives for __NAME__"), "folder"
        )
        self.choices = ChoiceBox(self.tr("Alternatives"), self.tr("How {a|b} and __NAME__ in prompts are expanded"))
        self._fields |= {
            "prompts": Field(self.tr("Prompts, one per line"), self.prompts),
            "prompts_file": Field(self.tr("Prompt file"), self.prompts_file),
            "table": Field(self.tr("Table"), self.table),
            "template": Field(self.tr("Prompt template"), self.template),
            "wildcards": Field(self.tr("Wildcard folder"), self.wildcards),
            "choices": Field(self.tr("Alternatives"), self.choices),
        }
        names = ("prompts_file", "table", "template", "wildcards", "choices")
        self._files = CollapsibleSection(
            self.tr("Prompt files"),
            self.tr("A prompt file, a table, wildcards"),
            _column(*(self._fields[name] for name in names)),
        )

    def _build(self) -> None:
        self._several = CollapsibleSection(
            self.tr("Parameter grid"),
            self.tr("Generate every image with several seeds, steps, models or other settings"),
            self._matrix_field,
        )
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(12)
        for name in ("source", "folder", "work", "strength"):
            layout.addWidget(self._fields[name])
        layout.addWidget(self._requests)
        layout.addWidget(self._fields["prompts"])
        for section in (self._which, self._files, self._several):
            layout.addWidget(section)

    def _check(self, text: str, tip: str) -> QCheckBox:
        box = QCheckBox(text)
        box.setAccessibleName(text)
        box.setToolTip(tip)
        return box

    # ---- display and signals

    def _show_values(self, form: BatchForm) -> None:
        parts: tuple[Any, ...] = (self.recursive, self.sidecars, self.watch, self.limit, self.prompts)
        for part in parts:
            part.blockSignals(True)
        self.recursive.setChecked(form.recursive)
        self.sidecars.setChecked(form.sidecars)
        self.watch.setChecked(form.watch)
        self.limit.setValue(form.limit)
        if self.prompts.toPlainText() != form.prompts:
            self.prompts.setPlainText(form.prompts)
        for part in parts:
            part.blockSignals(False)
        for line, text in ((self.glob, form.glob), (self.template, form.template)):
            if line.text() != text:
                line.setText(text)
        self.prompts_file.show_path(form.prompts_file, self.tr("none"))
        self.table.show_path(form.table, self.tr("none"))
        self.wildcards.show_path(form.wildcards, self.tr("none"))
        self.choices.show_choices(
            [
                Choice(value="all", name=self.tr("one image for each")),
                Choice(value="one", name=self.tr("one at random for each image")),
            ],
            form.choices,
        )

    def _show_summaries(self, form: BatchForm) -> None:
        which = [form.glob, self.tr("subfolders") if form.recursive else "", self.tr("masks") if form.masks else ""]
        which.append(self.tr("text files") if form.sidecars else "")
        which.append(self.tr("new images") if form.watch else "")
        which.append(self.tr("at most %n", "", form.limit) if form.limit else "")
        self._which.set_summary(", ".join(part for part in which if part))
        words = [self.tr("prompt file") if form.prompts_file else "", self.tr("table") if form.table else ""]
        words.append(self.tr("wildcards") if form.wildcards else "")
        self._files.set_summary(", ".join(part for part in words if part))
        self._several.set_summary(", ".join(row.setting for row in form.matrix))

    def _sources(self, form: BatchForm) -> list[Choice]:
        found = [
            Choice(value="folder", name=self.tr("Image folder")),
            Choice(value="words", name=self.tr("Prompts")),
        ]
        if form.requests:
            found.append(Choice(value="requests", name=self.tr("Images in the job file")))
        return found

    def _works(self) -> list[Choice]:
        return [
            Choice(value="change", name=self.tr("Image to image")),
            Choice(value="edit", name=self.tr("Edit by instruction (reference image)")),
            Choice(value="again", name=self.tr("Regenerate from metadata")),
        ]

    def _connect(self) -> None:
        change = self._model.change
        self.source.chosen.connect(lambda value: change(source=value))
        self.work.chosen.connect(lambda value: change(work=value))
        self.choices.chosen.connect(lambda value: change(choices=value))
        self.strength.edited.connect(lambda value: change(strength=round(value, 4)))
        self.recursive.toggled.connect(lambda checked: change(recursive=checked))
        self.sidecars.toggled.connect(lambda checked: change(sidecars=checked))
        self.watch.toggled.connect(lambda checked: change(watch=checked))
        self.limit.valueChanged.connect(lambda value: change(limit=value))
        self.prompts.textChanged.connect(lambda: change(prompts=self.prompts.toPlainText()))
        self.glob.editingFinished.connect(lambda: change(glob=self.glob.text()))
        self.template.editingFinished.connect(lambda: change(template=self.template.text()))
        self.folder.edited.connect(self._folder_chosen)
        self.masks.edited.connect(lambda path: change(masks=path))
        self.prompts_file.edited.connect(lambda path: change(prompts_file=path))
        self.table.edited.connect(lambda path: change(table=path))
        self.wildcards.edited.connect(lambda path: change(wildcards=path))
        self.matrix.edited.connect(lambda rows: change(matrix=rows))

    def _folder_chosen(self, path: str) -> None:
        if path:
            self._model.use_folder(path)
        else:
            self._model.change(folder="")


def _column(*parts: QWidget) -> QWidget:
    holder = QWidget()
    layout = QVBoxLayout(holder)
    layout.setContentsMargins(0, 0, 0, 0)
    layout.setSpacing(8)
    for part in parts:
        layout.addWidget(part)
    return holder
