"""The dialog for creating a quantized copy of a model."""

from typing import cast

from PySide6.QtWidgets import QButtonGroup, QDialog, QDialogButtonBox, QRadioButton, QVBoxLayout, QWidget

from mezzotint.protocol import ModelInfo, Quantization
from mezzotint_app.amounts import bytes_text
from mezzotint_app.widgets.labels import plain_label


class QuantizeDialog(QDialog):
    """Asks for the quantization scheme; `scheme()` is the selected one."""

    def __init__(self, model: ModelInfo, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.tr("Quantize model"))
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
            explained = plain_label(words, role="muted", wrap=True)
            explained.setContentsMargins(24, 0, 0, 4)
            column.addWidget(explained)
        column.addStretch()
        column.addWidget(self._buttons())
        self.resize(520, self.sizeHint().height())

    def scheme(self) -> Quantization:
        """The selected scheme."""
        chosen = self._schemes.checkedButton()
        return cast(Quantization, chosen.property("scheme") if chosen is not None else "int8")

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
                "int4-rot",
                self.tr("4 bits, inputs too (int4-rot)"),
                self.tr("A quarter of the size, meant for speed on RTX 20 to 40; visibly different images."),
            ),
            (
                "int8-weight",
                self.tr("8 bits, weights only (int8-weight)"),
                self.tr("Half the size, computed in 16 bits: for cards without fast 8-bit matrix multiplication."),
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
