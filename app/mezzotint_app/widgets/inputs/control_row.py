"""A control image with its ControlNet and settings."""

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QCheckBox, QFormLayout, QFrame, QHBoxLayout, QMenu, QPushButton, QVBoxLayout, QWidget

from mezzotint.control_protocol import MAX_CONTROL_WEIGHT
from mezzotint_app.viewmodel.create.controls import ControlChoice, preprocess_names, type_names
from mezzotint_app.viewmodel.create.images.control_previews import ControlPreview
from mezzotint_app.viewmodel.foreign_text import plain_tooltip
from mezzotint_app.widgets.button_menu import show_menu
from mezzotint_app.widgets.icon_button import icon_button
from mezzotint_app.widgets.images.control_preview_box import ControlPreviewBox
from mezzotint_app.widgets.inputs.choice_box import Choice, ChoiceBox
from mezzotint_app.widgets.inputs.form_rows import align_names
from mezzotint_app.widgets.inputs.interval_spin import IntervalSpin
from mezzotint_app.widgets.inputs.path_row import file_name
from mezzotint_app.widgets.inputs.slider_spin import SliderSpin
from mezzotint_app.widgets.labels import ElidedLabel

_STEP = 0.05
_NAME = 110  # pixels, for names of ControlNets; where they do not fit, the line goes below its label


class ControlRow(QFrame):
    """Emits `edited` with the values that the user changed, by name.

    `is_layer`: of the canvas's control layer, which is neither removed nor limited to a part of the image.
    """

    edited = Signal(object)  # dict: changed fields
    model_wanted = Signal()
    model_chosen = Signal(str)
    mask_wanted = Signal()
    encoder_wanted = Signal()
    removed = Signal()
    preview_wanted = Signal()
    save_wanted = Signal()

    def __init__(self, *, is_layer: bool = False) -> None:
        super().__init__()
        self.setProperty("role", "card")
        self._name, self._is_layer = "", is_layer
        self._on = QCheckBox()
        self._on.setMinimumWidth(40)
        self._on.clicked.connect(lambda on: self.edited.emit({"on": on}))
        self._remove = icon_button("remove", self.tr("Remove"))
        self._remove.clicked.connect(self.removed)
        self._model = ElidedLabel()
        self._model.setMinimumWidth(_NAME)
        self._choose = QPushButton(self.tr("Choose…"))
        self._choose.setToolTip(self.tr("Choose the file of a ControlNet or IP-Adapter, or drop it on the list"))
        self._choose.clicked.connect(self._choose_model)
        self._no_model = icon_button("remove", self.tr("Use no ControlNet: the model follows the image by itself"))
        self._no_model.clicked.connect(lambda: self.model_chosen.emit(""))
        self._networks: tuple[str, ...] = ()
        self._mask = ElidedLabel()
        self._choose_mask = QPushButton(self.tr("Choose…"))
        self._choose_mask.setToolTip(self.tr("Choose an image that is white where an IP-Adapter's image is to apply"))
        self._choose_mask.clicked.connect(self.mask_wanted)
        self._everywhere = icon_button("remove", self.tr("Apply everywhere"))
        self._everywhere.clicked.connect(lambda: self.edited.emit({"mask": None, "mask_sha256": None}))
        self._encoder = ElidedLabel()
        self._choose_encoder = QPushButton(self.tr("Choose…"))
        self._choose_encoder.setToolTip(self.tr("Choose the file of the image encoder that an IP-Adapter uses"))
        self._choose_encoder.clicked.connect(self.encoder_wanted)
        self._found_encoder = icon_button("remove", self.tr("Find the encoder automatically"))
        self._found_encoder.clicked.connect(lambda: self.edited.emit({"encoder": None, "encoder_sha256": None}))
        self._weight = SliderSpin(
            self.tr("Weight"),
            self.tr("How strongly the control image is followed"),
            low=0.0,
            high=MAX_CONTROL_WEIGHT,
            step=_STEP,
            decimals=2,
        )
        self._weight.edited.connect(lambda weight: self.edited.emit({"weight": weight}))
        self._interval = IntervalSpin(
            self.tr("Steps"), self.tr("The part of the steps in which the control image is followed"), step=_STEP
        )
        self._interval.edited.connect(lambda ends: self.edited.emit({"start": ends[0], "end": ends[1]}))
        self._type = ChoiceBox(self.tr("Shows"), self.tr("What the image shows; a union ControlNet must know it"))
        self._type.chosen.connect(lambda value: self.edited.emit({"type": value}))
        self._preprocess = ChoiceBox(self.tr("Prepare"), self.tr("What is made of the image first"))
        self._preprocess.chosen.connect(lambda value: self.edited.emit({"preprocess": value}))
        self._preview = ControlPreviewBox()
        self._preview.wanted.connect(self.preview_wanted)
        self._preview.save_wanted.connect(self.save_wanted)
        self._preview.keep.clicked.connect(lambda on: self.edited.emit({"keep": on}))
        self._build()

    def show_preview(self, preview: ControlPreview) -> None:
        """Show what is made of the image."""
        self._preview.show_preview(preview, self._name)

    def show_networks(self, names: Sequence[str]) -> None:
        """Offer these ControlNets by name, beside files."""
        self._networks = tuple(names)

    def _choose_model(self) -> None:
        if not self._networks:
            self.model_wanted.emit()
            return
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for name in self._networks:
            menu.addAction(name.replace("&", "&&"), partial(self.model_chosen.emit, name))
        menu.addSeparator()
        menu.addAction(self.tr("Choose a file…"), self.model_wanted.emit)
        show_menu(menu, self._choose)

    def show_control(self, control: ControlChoice) -> None:
        """Show a control image."""
        self._name = file_name(control.image)
        self._on.setChecked(control.on)
        self._on.setAccessibleName(self.tr("Use control image {name}").format(name=self._name))
        self._on.setToolTip(plain_tooltip(control.image))
        self._remove.setAccessibleName(self.tr("Remove {name}").format(name=self._name))
        self._model.setText(file_name(control.model) if control.model else self.tr("None yet"))
        self._model.setToolTip(plain_tooltip(control.model))
        self._choose.setAccessibleName(self.tr("Choose ControlNet for {name}").format(name=self._name))
        self._no_model.setVisible(bool(control.model))
        self._mask.setText(file_name(control.mask) if control.mask else self.tr("Everywhere"))
        self._mask.setToolTip(plain_tooltip(control.mask or ""))
        self._everywhere.setVisible(control.mask is not None)
        self._encoder.setText(file_name(control.encoder) if control.encoder else self.tr("Automatic"))
        self._encoder.setToolTip(plain_tooltip(control.encoder or ""))
        self._found_encoder.setVisible(control.encoder is not None)
        self._weight.show_value(control.weight)
        self._interval.show_value((control.start, control.end))
        shown = [Choice(value=None, name=self.tr("As the ControlNet does"))]
        self._type.show_choices(
            [*shown, *(Choice(value=value, name=name) for value, name in type_names().items())], control.type
        )
        ways = [Choice(value=value, name=name) for value, name in preprocess_names().items()]
        self._preprocess.show_choices(ways, control.preprocess)
        self._preview.keep.setChecked(control.keep)
        self._form.setRowVisible(self._preview, control.preprocess != "none" and not self._is_layer)
        self._name_parts()
        self._body.setEnabled(control.on)
        self._elide()

    def parts(self) -> dict[str, QWidget]:
        """The controls by name."""
        return {
            "on": self._on,
            "remove": self._remove,
            "choose": self._choose,
            "no_model": self._no_model,
            "choose_mask": self._choose_mask,
            "everywhere": self._everywhere,
            "choose_encoder": self._choose_encoder,
            "found_encoder": self._found_encoder,
            "weight": self._weight,
            "interval": self._interval,
            "type": self._type,
            "preprocess": self._preprocess,
            "preview": self._preview.make,
            "save": self._preview.save,
            "keep": self._preview.keep,
        }

    def resizeEvent(self, event: object) -> None:  # noqa: N802, ARG002
        """Elide the name to fit."""
        self._elide()

    def _build(self) -> None:
        head = QHBoxLayout()
        head.setSpacing(0)
        head.addWidget(self._on, 1)
        head.addWidget(self._remove)
        model = _line(self._model, self._no_model, self._choose)
        mask = _line(self._mask, self._everywhere, self._choose_mask)
        self._body = QWidget()
        form = self._form = QFormLayout(self._body)
        form.setContentsMargins(0, 0, 0, 0)
        form.setLabelAlignment(Qt.AlignmentFlag.AlignLeft)
        form.setRowWrapPolicy(QFormLayout.RowWrapPolicy.WrapLongRows)
        form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        form.addRow(self.tr("ControlNet"), model)
        form.addRow(self.tr("Weight"), self._weight)
        form.addRow(self.tr("Steps"), self._interval)
        form.addRow(self.tr("Shows"), self._type)
        form.addRow(self.tr("Prepare"), self._preprocess)
        form.addRow("", self._preview)
        form.addRow(self.tr("Applies to"), mask)
        encoder = _line(self._encoder, self._found_encoder, self._choose_encoder)
        form.addRow(self.tr("Encoder"), encoder)
        for line in (mask, encoder):
            form.setRowVisible(line, not self._is_layer)
        self._remove.setVisible(not self._is_layer)
        align_names(form)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(8, 4, 8, 8)
        layout.setSpacing(4)
        layout.addLayout(head)
        layout.addWidget(self._body)

    def _name_parts(self) -> None:
        """Name the controls after the image, so that those of several rows differ."""
        said = {
            self._no_model: self.tr("Use no ControlNet for {name}"),
            self._weight.spin(): self.tr("Weight of {name}"),
            self._weight.slider(): self.tr("Weight of {name}, slider"),
            self._interval.start: self.tr("Steps of {name}, start"),
            self._interval.end: self.tr("Steps of {name}, end"),
            self._type: self.tr("What {name} shows"),
            self._preprocess: self.tr("How {name} is prepared"),
            self._choose_mask: self.tr("Choose mask for {name}"),
            self._everywhere: self.tr("Apply {name} everywhere"),
            self._choose_encoder: self.tr("Choose image encoder for {name}"),
            self._found_encoder: self.tr("Find the encoder for {name} automatically"),
        }
        for part, text in said.items():
            part.setAccessibleName(text.format(name=self._name))

    def _elide(self) -> None:
        room = max(self._on.width() - 36, 0)
        shown = self.fontMetrics().elidedText(self._name, Qt.TextElideMode.ElideMiddle, room) if room else self._name
        self._on.setText(shown.replace("&", "&&"))  # escaped, as an ampersand would define a shortcut


def _line(label: ElidedLabel, *buttons: QWidget) -> QHBoxLayout:
    line = QHBoxLayout()
    line.setSpacing(8)
    line.addWidget(label, 1)
    for button in buttons:
        line.addWidget(button)
    return line
