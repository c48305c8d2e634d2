"""What is trained: images, trigger word, model, strength; the rest is under Advanced."""

from typing import get_args

from PySide6.QtWidgets import QCheckBox, QLineEdit, QPlainTextEdit, QVBoxLayout, QWidget

from mezzotint.training_protocol import OptimizerName
from mezzotint_app.viewmodel.train.state import OPTIMIZERS, TrainForm, prompts_of
from mezzotint_app.viewmodel.train.train import TrainModel
from mezzotint_app.widgets.collapsible_section import CollapsibleSection
from mezzotint_app.widgets.inputs.automatic_spin import AutomaticDecimal, AutomaticSpin
from mezzotint_app.widgets.inputs.batch_path import BatchPath
from mezzotint_app.widgets.inputs.choice_box import Choice, ChoiceBox
from mezzotint_app.widgets.inputs.field import Field
from mezzotint_app.widgets.inputs.slider_spin import SliderSpin

_LINES = 3  # of the prompt editor
_MOST_STEPS, _MOST_RANK, _MOST_BATCH, _MOST_SIDE, _MOST_IMAGES, _MOST_EPOCHS = 100_000, 512, 256, 4096, 10_000, 100
_MOST_HELD = 0.5


class TrainFormView(QWidget):
    """Shows a TrainForm and forwards changes."""

    def __init__(self, model: TrainModel) -> None:
        super().__init__()
        self._model = model
        self._make_basics()
        self._make_numbers()
        self._make_rest()
        self._build()
        self._connect()

    def fields(self) -> dict[str, Field]:
        """The fields by the names used in problems."""
        return self._fields

    def show_form(self, form: TrainForm) -> None:
        """Show the form's values, and what the automatic ones stand for."""
        self.folder.show_path(form.folder, self.tr("choose a folder, or drop it here"))
        models = [Choice(value=one.id, name=one.id) for one in self._model.models()]
        self.model.show_choices(models, self._model.model())
        self._show_lines(form)
        self._show_automatic(form)
        for part, value in self._numbers(form):
            part.show_number(value)  # type: ignore[arg-type]
        self.epochs.show_number(form.epochs)
        self.validation.show_value(form.validation)
        for box in (self.flip,):
            box.blockSignals(True)
            box.setChecked(form.flip)
            box.blockSignals(False)
        automatic = Choice(value=None, name=self.tr("Automatic: as memory needs"))
        optimizers = [Choice(value=name, name=OPTIMIZERS[name]) for name in get_args(OptimizerName)]
        self.optimizer.show_choices([automatic, *optimizers], form.optimizer)

    # ---- setup

    def _make_basics(self) -> None:
        self.folder = BatchPath(
            self.tr("Images"), self.tr("A folder with 10 to 50 images of what is to be learned"), "folder"
        )
        self.trigger = self._line(
            self.tr("Trigger word"),
            self.tr("A made-up word: prompts that contain it show what was learned"),
            self.tr("such as: zibble"),
        )
        self.word = self._line(
            self.tr("What it is"),
            self.tr("The ordinary word for it; it keeps the model from forgetting what others of this kind look like"),
            self.tr("such as: castle, woman, painting"),
        )
        self.model = ChoiceBox(
            self.tr("Model"), self.tr("The model that learns; the LoRA works with models of its kind")
        )
        self.steps = AutomaticSpin(
            self.tr("Training steps"),
            self.tr("How long it learns: too few steps do not show it, too many copy the images"),
            1, _MOST_STEPS, 50,
        )  # fmt: skip
        self.name = self._line(self.tr("Name"), self.tr("The file name of the LoRA"), "")

    def _make_numbers(self) -> None:
        self.rank = AutomaticSpin(
            self.tr("Rank"), self.tr("The size of the LoRA: higher ones learn more detail, and forget more"),
            1, _MOST_RANK,
        )  # fmt: skip
        self.rate = AutomaticDecimal(
            self.tr("Learning rate"), self.tr("How much each step changes"), high=1.0, step=1e-4, decimals=6
        )
        self.batch = AutomaticSpin(
            self.tr("Batch size"), self.tr("Images in each step; more need more memory"), 1, _MOST_BATCH
        )
        self.resolution = AutomaticSpin(
            self.tr("Resolution"), self.tr("The side of a square image in pixels; smaller needs less memory"),
            64, _MOST_SIDE, 64,
        )  # fmt: skip
        self.regularization = AutomaticSpin(
            self.tr("Regularization images"),
            self.tr("Images that the model makes itself and keeps learning, so that it forgets less; 0: none"),
            0, _MOST_IMAGES,
        )  # fmt: skip
        self.epochs = AutomaticSpin(
            self.tr("Epochs"), self.tr("How many LoRAs are saved on the way, to choose the best from"), 1, _MOST_EPOCHS
        )
        self.epochs.setMinimum(1)
        self.epochs.setSpecialValueText("")

    def _make_rest(self) -> None:
        self.optimizer = ChoiceBox(self.tr("Optimizer"), self.tr("How steps are computed; 8-bit needs less memory"))
        self.validation = SliderSpin(
            self.tr("Images for validation"),
            self.tr("Share of the images to test on and not to learn from; 0: none"),
            low=0, high=_MOST_HELD, step=0.05, decimals=2,
        )  # fmt: skip
        self.flip = QCheckBox(self.tr("Also mirrored"))
        self.flip.setAccessibleName(self.flip.text())
        self.flip.setToolTip(self.tr("Also learn from mirrored images; not for faces and text"))
        self.prompts = QPlainTextEdit()
        self.prompts.setAccessibleName(self.tr("Sample prompts, one per line"))
        self.prompts.setToolTip(self.tr("An image of each is generated at every epoch, to compare"))
        self.prompts.setTabChangesFocus(True)
        self.prompts.setFixedHeight(self.prompts.fontMetrics().lineSpacing() * _LINES + 18)

    def _build(self) -> None:
        self._fields = {
            "folder": Field(self.tr("Images"), self.folder),
            "trigger": Field(self.tr("Trigger word"), self.trigger),
            "word": Field(self.tr("What it is"), self.word),
            "model": Field(self.tr("Model"), self.model),
            "steps": Field(self.tr("Training steps"), self.steps),
            "name": Field(self.tr("Name"), self.name),
            "prompts": Field(self.tr("Sample prompts, one per line"), self.prompts),
            "rank": Field(self.tr("Rank"), self.rank),
            "rate": Field(self.tr("Learning rate"), self.rate),
            "batch": Field(self.tr("Batch size"), self.batch),
            "resolution": Field(self.tr("Resolution"), self.resolution),
            "optimizer": Field(self.tr("Optimizer"), self.optimizer),
            "regularization": Field(self.tr("Regularization images"), self.regularization),
            "validation": Field(self.tr("Images for validation"), self.validation),
            "epochs": Field(self.tr("Epochs"), self.epochs),
        }
        basics = ("folder", "trigger", "word", "model", "steps", "name")
        rest = [field for name, field in self._fields.items() if name not in basics]
        self.advanced = CollapsibleSection(
            self.tr("Advanced"), self.tr("Sample prompts, rank, learning rate, validation"), _column(*rest, self.flip)
        )
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(12)
        for name in basics:
            layout.addWidget(self._fields[name])
        layout.addWidget(self.advanced)

    def _line(self, name: str, tip: str, placeholder: str) -> QLineEdit:
        line = QLineEdit()
        line.setAccessibleName(name)
        line.setToolTip(tip)
        line.setPlaceholderText(placeholder)
        return line

    # ---- display and signals

    def _numbers(self, form: TrainForm) -> tuple[tuple[AutomaticSpin | AutomaticDecimal, float | None], ...]:
        return (
            (self.steps, form.steps),
            (self.rank, form.rank),
            (self.rate, form.rate),
            (self.batch, form.batch),
            (self.resolution, form.resolution),
            (self.regularization, form.regularization),
        )

    def _show_lines(self, form: TrainForm) -> None:
        for line, text in ((self.trigger, form.trigger), (self.word, form.word), (self.name, form.name)):
            if line.text() != text:
                line.setText(text)
        self.name.setPlaceholderText(self._model.name())
        if self.prompts.toPlainText() != form.prompts:
            self.prompts.blockSignals(True)
            self.prompts.setPlainText(form.prompts)
            self.prompts.blockSignals(False)
        self.prompts.setPlaceholderText("\n".join(prompts_of(form)))

    def _show_automatic(self, form: TrainForm) -> None:
        """A value that the user has set is not what would be chosen automatically."""
        found = self._model.checks.found()
        values = None if found is None else found.values
        for part, asked, value in (
            (self.steps, form.steps, None if values is None else values.steps),
            (self.rank, form.rank, None if values is None else values.rank),
            (self.rate, form.rate, None if values is None else values.rate),
            (self.batch, form.batch, None if values is None else values.batch),
            (self.resolution, form.resolution, None if values is None else values.resolution),
            (self.regularization, form.regularization, None if values is None else values.regularization),
        ):
            if asked is None:
                part.show_automatic(value)  # type: ignore[arg-type]

    def _connect(self) -> None:
        change = self._model.change
        self.folder.edited.connect(self._model.use_folder)
        self.model.chosen.connect(lambda value: change(model=value))
        self.trigger.textEdited.connect(lambda text: change(trigger=text))
        self.word.textEdited.connect(lambda text: change(word=text))
        self.name.textEdited.connect(lambda text: change(name=text))
        self.prompts.textChanged.connect(lambda: change(prompts=self.prompts.toPlainText()))
        self.steps.edited.connect(lambda value: change(steps=value))
        self.rank.edited.connect(lambda value: change(rank=value))
        self.rate.edited.connect(lambda value: change(rate=value))
        self.batch.edited.connect(lambda value: change(batch=value))
        self.resolution.edited.connect(lambda value: change(resolution=value))
        self.regularization.edited.connect(lambda value: change(regularization=value))
        self.epochs.valueChanged.connect(lambda value: change(epochs=value))
        self.optimizer.chosen.connect(lambda value: change(optimizer=value))
        self.validation.edited.connect(lambda value: change(validation=round(value, 4)))
        self.flip.toggled.connect(lambda checked: change(flip=checked))


def _column(*parts: QWidget) -> QWidget:
    holder = QWidget()
    layout = QVBoxLayout(holder)
    layout.setContentsMargins(0, 0, 0, 0)
    layout.setSpacing(8)
    for part in parts:
        layout.addWidget(part)
    return holder
