"""The dialog for creating a quantized copy of a model."""

from typing import cast

from PySide6.QtWidgets import (
    QButtonGroup,
    QCheckBox,
    QDialog,
    QDialogButtonBox,
    QRadioButton,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)

from mezzotint.library_protocol import QuantizeRequest
from mezzotint.protocol import ModelInfo, Quantization
from mezzotint_app.amounts import bytes_text
from mezzotint_app.widgets.inputs.spin_room import indent
from mezzotint_app.widgets.inputs.wheel_focus import ignore_wheel_without_focus
from mezzotint_app.widgets.labels import plain_label

_GB = 2**30
_USUAL = 8  # GB of a card, where there is none here
_U_NETS = ("sdxl", "sd15")


class QuantizeDialog(QDialog):
    """Asks for the quantization scheme, and for what belongs to it; `request()` is what was chosen."""

    def __init__(self, model: ModelInfo, vram_bytes: int | None = None, parent: QWidget | None = None) -> None:
        """`vram_bytes`: the memory of this machine's GPU."""
        super().__init__(parent)
        self.setWindowTitle(self.tr("Quantize model"))
        self._model = model.id
        self._schemes = QButtonGroup(self)
        column = QVBoxLayout(self)
        column.setContentsMargins(24, 16, 24, 16)
        column.setSpacing(8)
        column.addWidget(plain_label(model.id, role="heading", wrap=True))
        column.addWidget(plain_label(self._now(model), role="muted", wrap=True))
        for scheme, title, words in self._choices():
            button = QRadioButton(title)
            button.setAccessibleDescription(words)
            button.setToolTip(words)
            button.setProperty("scheme", scheme)
            button.setChecked(scheme == "int8")
            self._schemes.addButton(button)
            column.addWidget(button)
        self._explained = plain_label(max((words for _, _, words in self._choices()), key=len), role="muted", wrap=True)
        column.addWidget(self._explained)
        self._vram = self._vram_field(vram_bytes)
        self._convolutions = self._convolutions_box(model)
        column.addWidget(self._convolutions)
        column.addWidget(self._vram)
        column.addStretch()
        column.addWidget(self._buttons())
        self.resize(520, self.sizeHint().height())
        self._explained.setMinimumHeight(self._explained.heightForWidth(520 - 2 * 24))  # of the longest
        self._explain()
        self._schemes.buttonToggled.connect(self._explain)

    def request(self) -> QuantizeRequest:
        """Return what was chosen: the memory of a card for auto alone, convolutions for int8 alone."""
        scheme = self._scheme()
        return QuantizeRequest(
            model=self._model,
            scheme=scheme,
            target_vram_bytes=self._vram.value() * _GB if scheme == "auto" else None,
            int8_convolutions=scheme == "int8" and self._convolutions.isChecked(),
        )

    def _scheme(self) -> Quantization:
        chosen = self._schemes.checkedButton()
        return cast(Quantization, chosen.property("scheme") if chosen is not None else "int8")

    def _explain(self) -> None:
        chosen = self._schemes.checkedButton()
        self._explained.setText("" if chosen is None else chosen.accessibleDescription())

    def _vram_field(self, vram_bytes: int | None) -> QSpinBox:
        field = QSpinBox()
        field.setRange(1, 1024)
        field.setValue(max(1, vram_bytes // _GB) if vram_bytes else _USUAL)
        field.setSuffix(self.tr(" GB"))
        field.setPrefix(self.tr("Memory of the card: "))
        field.setAccessibleName(self.tr("Memory of the card"))
        field.setToolTip(self.tr("Memory of the graphics card that is to hold the model"))
        ignore_wheel_without_focus(field)
        indent(field)
        field.setVisible(False)
        self._schemes.buttonToggled.connect(lambda: field.setVisible(self._scheme() == "auto"))
        return field

    def _convolutions_box(self, model: ModelInfo) -> QCheckBox:
        """Return the choice that U-Nets have, hidden for other networks."""
        box = QCheckBox(self.tr("8-bit inputs of convolutions, too"))
        box.setToolTip(self.tr("With int8: faster on NVIDIA cards, a little less close to the original"))
        box.setVisible(model.family in _U_NETS)
        self._schemes.buttonToggled.connect(lambda: box.setEnabled(self._scheme() == "int8"))
        return box

    def _now(self, model: ModelInfo) -> str:
        return self.tr("The model takes {size}. The copy goes into your model folder; this one is kept.").format(
            size=bytes_text(model.bytes)
        )

    def _choices(self) -> tuple[tuple[str, str, str], ...]:
        return (
            (
                "int8",
                self.tr("8 bits (int8)"),
                self.tr("About half the size, hard to tell apart, and the fastest on most cards."),
            ),
            (
                "int4-lowrank",
                self.tr("4 bits with low-rank correction (int4-lowrank)"),
                self.tr("About a third of the size, close to the original. Takes several minutes to make."),
            ),
            (
                "int4",
                self.tr("4 bits (int4)"),
                self.tr("The smallest: under a third of the size, with small differences in details."),
            ),
            (
                "int4-codebook",
                self.tr("4 bits with a codebook (int4-codebook)"),
                self.tr("Under a third of the size, closer to the original than int4; ComfyUI reads it too."),
            ),
            (
                "int4-rot",
                self.tr("4 bits, inputs too (int4-rot)"),
                self.tr("A quarter of the size, meant for speed on RTX 20 to 40; visibly different images."),
            ),
            (
                "svdquant",
                self.tr("4 bits, inputs too, with low-rank correction (svdquant)"),
                self.tr("Under a third of the size, meant for speed on RTX 30 and 40; closer to the original."),
            ),
            (
                "fp8",
                self.tr("8-bit floats (fp8)"),
                self.tr("Half the size, multiplied as such on RTX 40 and 50; int8 is closer to the original."),
            ),
            (
                "nvfp4",
                self.tr("4-bit floats (nvfp4)"),
                self.tr("Under a third of the size, meant for speed on RTX 50; ComfyUI reads it too."),
            ),
            (
                "int8-weight",
                self.tr("8 bits, weights only (int8-weight)"),
                self.tr("Half the size, computed in 16 bits: for cards without fast 8-bit matrix multiplication."),
            ),
            (
                "auto",
                self.tr("Mixed, to fit a GPU (auto)"),
                self.tr(
                    "Each layer gets what loses least, so that the model stays on a card with this much memory. "
                    "A few images are made to measure that."
                ),
            ),
        )

    def _buttons(self) -> QDialogButtonBox:
        buttons = QDialogButtonBox()
        make = buttons.addButton(self.tr("Quantize"), QDialogButtonBox.ButtonRole.AcceptRole)
        make.setProperty("role", "primary")
        make.setToolTip(self.tr("Starts in the background"))
        cancel = buttons.addButton(self.tr("Cancel"), QDialogButtonBox.ButtonRole.RejectRole)
        cancel.setToolTip(self.tr("Close without quantizing"))
        buttons.accepted.connect(self.accept)
        buttons.rejected.connect(self.reject)
        return buttons
