"""The form for inpainting settings and for extending the canvas."""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QComboBox, QFormLayout, QLabel, QPushButton, QSpinBox, QVBoxLayout, QWidget

from mezzotint_app.viewmodel.create.images.image_input import MAX_FEATHER, MAX_PADDING, InpaintSettings
from mezzotint_app.viewmodel.create.images.outpaint_padding import EDGES, LARGEST_SIDE, STEP, OutpaintPadding
from mezzotint_app.widgets.inputs.form_rows import align_names
from mezzotint_app.widgets.inputs.spin_room import indent
from mezzotint_app.widgets.labels import plain_label


class MaskSettings(QWidget):
    """A form for InpaintSettings and an OutpaintPadding."""

    outpaint_padding_changed = Signal(object)  # OutpaintPadding

    def __init__(
        self,
        image: tuple[int, int],
        inpaint_settings: InpaintSettings,
        outpaint_padding: OutpaintPadding,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.setProperty("role", "form")
        self._image_size, self._outpaint_padding = image, outpaint_padding
        self._area, self._fill = QComboBox(), QComboBox()
        self._padding, self._feather = _pixels(MAX_PADDING), _pixels(MAX_FEATHER)
        self._sides = {edge: _pixels(LARGEST_SIDE, STEP) for edge in EDGES}
        form = QFormLayout()
        form.setHorizontalSpacing(12)
        form.setVerticalSpacing(8)
        form.setRowWrapPolicy(QFormLayout.RowWrapPolicy.WrapLongRows)
        form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        self._build_inpaint(form)
        self._build_outpaint(form)
        align_names(form)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 12, 0)
        layout.addLayout(form)
        layout.addStretch()
        self._show_inpaint_settings(inpaint_settings)
        self.show_outpaint_padding(outpaint_padding)

    def _build_inpaint(self, form: QFormLayout) -> None:
        for words, area in (
            (self.tr("Whole image"), "whole"),
            (self.tr("Only masked"), "masked"),
        ):
            self._area.addItem(words, area)
        for words, fill in (
            (self.tr("Original"), "original"),
            (self.tr("Surrounding colours, blurred"), "blur"),
            (self.tr("Noise"), "noise"),
        ):
            self._fill.addItem(words, fill)
        self._explanation = plain_label(role="muted", wrap=True)
        self._area.currentIndexChanged.connect(lambda _index: self._explain())
        form.addRow(plain_label(self.tr("Masked area"), role="heading"))
        self._add(
            form, self.tr("Inpaint area"), self._area, self.tr("The area that the model works on at the chosen size")
        )
        form.addRow(self._explanation)
        self._padding_name = self._add(form, self.tr("Padding"), self._padding, self.tr("Context around the mask"))
        self._add(form, self.tr("Feather"), self._feather, self.tr("Width of the soft edge inside the mask"))
        self._add(form, self.tr("Fill"), self._fill, self.tr("What the masked area starts from"))

    def _build_outpaint(self, form: QFormLayout) -> None:
        heading = plain_label(self.tr("Extend canvas"), role="heading")
        heading.setContentsMargins(0, 16, 0, 0)
        form.addRow(heading)
        hint = plain_label(
            self.tr("Drag the edges of the frame, or enter pixels for each side."), role="muted", wrap=True
        )
        form.addRow(hint)
        names = {
            "left": self.tr("Left"),
            "top": self.tr("Top"),
            "right": self.tr("Right"),
            "bottom": self.tr("Bottom"),
        }
        for edge, box in self._sides.items():
            self._add(form, names[edge], box, self.tr("Pixels to add on this side; they are generated"))
            box.setAccessibleName(self.tr("Extend: {0}").format(names[edge]))
            box.valueChanged.connect(lambda value, edge=edge: self._typed(edge, value))
        none = QPushButton(self.tr("Reset canvas"))
        none.setToolTip(self.tr("Reset all edges to the image"))
        none.clicked.connect(lambda: self._set_outpaint_padding(OutpaintPadding()))
        form.addRow(none)

    def _add(self, form: QFormLayout, words: str, field: QWidget, tooltip: str) -> QLabel:
        field.setAccessibleName(words)
        field.setToolTip(tooltip)
        name = plain_label(words)
        name.setBuddy(field)
        form.addRow(name, field)
        return name

    # ---- values

    def inpaint_settings(self) -> InpaintSettings:
        """The inpainting settings in the form."""
        return InpaintSettings(
            area=self._area.currentData(),
            padding=self._padding.value(),
            feather=self._feather.value(),
            fill=self._fill.currentData(),
        )

    def outpaint_padding(self) -> OutpaintPadding:
        """The canvas extension in the form."""
        return self._outpaint_padding

    def show_outpaint_padding(self, outpaint_padding: OutpaintPadding) -> None:
        """Show a canvas extension without emitting `outpaint_padding_changed`."""
        self._outpaint_padding = outpaint_padding
        for edge, box in self._sides.items():
            box.blockSignals(True)
            box.setValue(getattr(outpaint_padding, edge))
            box.blockSignals(False)

    def _show_inpaint_settings(self, inpaint_settings: InpaintSettings) -> None:
        self._area.setCurrentIndex(max(self._area.findData(inpaint_settings.area), 0))
        self._fill.setCurrentIndex(max(self._fill.findData(inpaint_settings.fill), 0))
        self._padding.setValue(inpaint_settings.padding)
        self._feather.setValue(inpaint_settings.feather)
        self._explain()

    def _explain(self) -> None:
        masked = self._area.currentData() == "masked"
        self._padding.setEnabled(masked)
        self._padding_name.setEnabled(masked)
        self._explanation.setText(
            self.tr("The area around the mask is generated at full size, then pasted back: fine details.")
            if masked
            else self.tr("The model sees the whole image: the new area fits in well.")
        )

    def _typed(self, edge: str, value: int) -> None:
        self._set_outpaint_padding(self._outpaint_padding.with_edge(edge, value, self._image_size))

    def _set_outpaint_padding(self, outpaint_padding: OutpaintPadding) -> None:
        self.show_outpaint_padding(outpaint_padding)
        self.outpaint_padding_changed.emit(outpaint_padding)


def _pixels(most: int, step: int = 1) -> QSpinBox:
    box = QSpinBox()
    box.setRange(0, most)
    box.setSingleStep(step)
    box.setSuffix(" px")
    indent(box)
    box.setKeyboardTracking(False)
    return box
