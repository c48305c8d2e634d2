"""Prompt and inpainting settings, for the frame."""

from collections.abc import Sequence
from dataclasses import replace

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import (
    QComboBox,
    QFileDialog,
    QFormLayout,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)

from mezzotint_app.viewmodel.canvas.generation import CanvasGeneration
from mezzotint_app.viewmodel.create.controls import with_model
from mezzotint_app.viewmodel.create.images.image_input import MAX_FEATHER, MAX_PADDING
from mezzotint_app.widgets.inputs.control_row import ControlRow
from mezzotint_app.widgets.inputs.field import Field
from mezzotint_app.widgets.inputs.form_rows import align_names
from mezzotint_app.widgets.inputs.path_list import file_dialog
from mezzotint_app.widgets.inputs.prompt_edit import PromptEdit
from mezzotint_app.widgets.inputs.spin_room import indent
from mezzotint_app.widgets.labels import plain_label


class GeneratePanel(QWidget):
    """Shares the prompt with the Create page; model, steps and everything else is set there."""

    def __init__(self, model: CanvasGeneration) -> None:
        super().__init__()
        self._model = model
        self.prompt = PromptEdit(self.tr("Prompt"), self.tr("What the frame is to show (shared with Create)"), lines=3)
        fills = (
            (self.tr("Automatic"), None),
            (self.tr("Original"), "original"),
            (self.tr("Surrounding colours, blurred"), "blur"),
            (self.tr("Noise"), "noise"),
        )
        self._fill = _choices(self.tr("Fill"), self.tr("What the masked or empty part starts from"), fills)
        areas = ((self.tr("Whole frame"), "whole"), (self.tr("Only masked"), "masked"))
        tip = self.tr("Only masked: the surroundings of the mask are generated at the size on Create, then pasted back")
        self._area = _choices(self.tr("Inpaint area"), tip, areas)
        self._padding = _spin(self.tr("Padding"), self.tr("Context around the mask"), MAX_PADDING, " px")
        self._strength = _spin(
            self.tr("Denoising strength"),
            self.tr("How much changes; automatic: all where something is filled in, otherwise 60 %"),
            100,
            " %",
        )
        self._strength.setMinimum(-1)
        self._strength.setSpecialValueText(self.tr("Automatic"))
        self._feather = _spin(self.tr("Feather"), self.tr("Width of the soft edge inside the mask"), MAX_FEATHER, " px")
        self.control = ControlRow(is_layer=True)
        self._build()
        self._connect()
        self.show_model()

    def _build(self) -> None:
        form = self._form = QFormLayout()
        form.setHorizontalSpacing(12)
        form.setVerticalSpacing(6)
        form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        for words, widget in (
            (self.tr("Fill"), self._fill),
            (self.tr("Strength"), self._strength),
            (self.tr("Feather"), self._feather),
            (self.tr("Area"), self._area),
            (self.tr("Padding"), self._padding),
        ):
            form.addRow(words, widget)
        align_names(form)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(6)
        column.addWidget(plain_label(self.tr("Generate into the frame"), role="heading"))
        column.addWidget(Field(self.tr("Prompt"), self.prompt))
        column.addWidget(self.control)
        column.addLayout(form)

    def _connect(self) -> None:
        model = self._model
        self.prompt.textChanged.connect(lambda: model.create.prompts.set_prompt(self.prompt.text()))
        self.prompt.generate_wanted.connect(lambda _front=False: model.generate())
        self._fill.currentIndexChanged.connect(lambda _n: self._choose(fill=self._fill.currentData()))
        self._strength.valueChanged.connect(lambda value: self._choose(strength=None if value < 0 else value / 100))
        self._area.currentIndexChanged.connect(lambda _n: self._choose(area=self._area.currentData()))
        self._padding.valueChanged.connect(lambda value: self._choose(padding=value))
        self._feather.valueChanged.connect(lambda value: self._choose(feather=value))
        self.control.edited.connect(lambda values: self._choose(control=replace(model.choice().control, **values)))
        self.control.model_wanted.connect(self.choose_controlnet)
        self.control.model_chosen.connect(self._use_controlnet)
        model.changed.connect(self.show_model)
        self._soon = QTimer(self)  # the frame follows the mouse; its words need not
        self._soon.setSingleShot(True)
        self._soon.setInterval(100)
        self._soon.timeout.connect(self.show_model)
        for signal in (model.document.frame_changed, model.document.layers_changed, model.document.history_changed):
            signal.connect(self._soon.start)

    def choose_controlnet(self) -> QFileDialog:
        """Open a file dialog for the ControlNet of the control layer."""
        dialog = file_dialog(self, self.tr("Choose a ControlNet"), (".safetensors",))
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.fileSelected.connect(self._use_controlnet)
        dialog.open()
        return dialog

    def _use_controlnet(self, model: str) -> None:
        self._choose(control=with_model((self._model.choice().control,), 0, model)[0])

    def _choose(self, **fields: object) -> None:
        self._model.choose(replace(self._model.choice(), **fields))  # type: ignore[arg-type]

    def show_model(self) -> None:
        """Show the settings."""
        model, choice = self._model, self._model.choice()
        self.control.show_networks(model.create.models.controlnets())
        if self.prompt.text() != model.create.prompts.prompt():
            self.prompt.show_text(model.create.prompts.prompt())
        inputs = (self._fill, self._strength, self._feather, self._area, self._padding)
        for widget in inputs:
            widget.blockSignals(True)
        self._fill.setCurrentIndex(max(self._fill.findData(choice.fill), 0))
        self._strength.setValue(-1 if choice.strength is None else round(100 * choice.strength))
        self._feather.setValue(choice.feather)
        self._area.setCurrentIndex(max(self._area.findData(choice.area), 0))
        self._padding.setValue(choice.padding)
        self._form.setRowVisible(self._padding, choice.area == "masked")
        for widget in inputs:
            widget.blockSignals(False)
        self.control.setVisible(model.has_control())
        self.control.show_control(replace(choice.control, image=self.tr("Control layer")))


def _choices(name: str, tooltip: str, choices: Sequence[tuple[str, str | None]]) -> QComboBox:
    box = QComboBox()
    for words, value in choices:
        box.addItem(words, value)
    box.setAccessibleName(name)
    box.setToolTip(tooltip)
    box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
    return box


def _spin(name: str, tooltip: str, most: int, suffix: str) -> QSpinBox:
    box = QSpinBox()
    box.setRange(0, most)
    box.setSuffix(suffix)
    box.setAccessibleName(name)
    box.setToolTip(tooltip)
    indent(box)
    return box
