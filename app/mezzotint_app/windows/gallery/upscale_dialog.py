"""The dialog for enlarging images."""

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QDoubleSpinBox,
    QFormLayout,
    QVBoxLayout,
    QWidget,
)

from mezzotint.library_protocol import BUNDLED_UPSCALER, MOST_SCALE
from mezzotint_app.viewmodel.gallery.upscaling import Enlarged, GalleryUpscaling
from mezzotint_app.viewmodel.queue.texts import images_count
from mezzotint_app.widgets.inputs.wheel_focus import ignore_wheel_without_focus
from mezzotint_app.widgets.labels import plain_label

_USUAL = 2.0
_STRENGTH = 0.3


class UpscaleDialog(QDialog):
    """Asks for the upscaler, `upscaler()`, how much to enlarge, `scale()`, and a second pass, `strength()`."""

    def __init__(self, count: int, size: str, parent: QWidget | None = None) -> None:
        """`count`: of images; `size`: of a single one, as text."""
        super().__init__(parent)
        self.setWindowTitle(self.tr("Upscale"))
        self._upscalers, self._scale = self._upscaler_field(), self._scale_field()
        self._strength = self._strength_field()
        self._second_pass = self._second_pass_field()
        column = QVBoxLayout(self)
        column.setContentsMargins(24, 16, 24, 16)
        column.setSpacing(8)
        column.addWidget(plain_label(size or images_count(count), role="heading"))
        column.addWidget(
            plain_label(
                self.tr("The enlarged copy is saved next to the original, with the same settings in it."),
                role="muted",
                wrap=True,
            )
        )
        form = QFormLayout()
        form.addRow(self.tr("Upscaler"), self._upscalers)
        form.addRow(self.tr("Scale"), self._scale)
        form.addRow(self._second_pass)
        form.addRow(self.tr("Denoising strength"), self._strength)
        column.addLayout(form)
        column.addWidget(
            plain_label(
                self.tr("Other upscalers are found in folders named upscale_models (ComfyUI) or ESRGAN (A1111)."),
                role="muted",
                wrap=True,
            )
        )
        column.addStretch()
        column.addWidget(self._buttons())
        self.resize(480, self.sizeHint().height())

    def show_upscalers(self, names: list[str]) -> None:
        """Offer these; the chosen one stays chosen."""
        chosen = self._upscalers.currentText()
        self._upscalers.clear()
        self._upscalers.addItems(names or [BUNDLED_UPSCALER])
        self._upscalers.setCurrentIndex(max(0, self._upscalers.findText(chosen)))

    def upscaler(self) -> str:
        """The name of the upscaler."""
        return self._upscalers.currentText()

    def scale(self) -> float:
        """How much larger each side becomes."""
        return self._scale.value()

    def strength(self) -> float | None:
        """The denoising strength of a second pass; None: without one."""
        return self._strength.value() if self._second_pass.isChecked() else None

    def _second_pass_field(self) -> QCheckBox:
        field = QCheckBox(self.tr("Add detail (second pass)"))
        field.setToolTip(
            self.tr("The model that made the image denoises the enlarged one in tiles; it waits in the queue")
        )
        field.toggled.connect(self._strength.setEnabled)
        return field

    def _strength_field(self) -> QDoubleSpinBox:
        field = QDoubleSpinBox()
        field.setRange(0.05, 1)
        field.setSingleStep(0.05)
        field.setValue(_STRENGTH)
        field.setEnabled(False)
        field.setAccessibleName(self.tr("Denoising strength"))
        field.setToolTip(self.tr("Low sharpens the image; high invents new detail"))
        ignore_wheel_without_focus(field)
        return field

    def _upscaler_field(self) -> QComboBox:
        field = QComboBox()
        field.addItem(BUNDLED_UPSCALER)
        field.setAccessibleName(self.tr("Upscaler"))
        field.setToolTip(self.tr("The network that enlarges the image"))
        ignore_wheel_without_focus(field)
        return field

    def _scale_field(self) -> QDoubleSpinBox:
        field = QDoubleSpinBox()
        field.setRange(1, MOST_SCALE)
        field.setSingleStep(0.5)
        field.setDecimals(1)
        field.setValue(_USUAL)
        field.setSuffix(" \u00d7")
        field.setAccessibleName(self.tr("Scale"))
        field.setToolTip(self.tr("How much larger each side becomes"))
        ignore_wheel_without_focus(field)
        return field

    def _buttons(self) -> QDialogButtonBox:
        buttons = QDialogButtonBox()
        make = buttons.addButton(self.tr("Upscale"), QDialogButtonBox.ButtonRole.AcceptRole)
        make.setProperty("role", "primary")
        make.setToolTip(self.tr("Starts in the background"))
        cancel = buttons.addButton(self.tr("Cancel"), QDialogButtonBox.ButtonRole.RejectRole)
        cancel.setToolTip(self.tr("Close without upscaling"))
        buttons.accepted.connect(self.accept)
        buttons.rejected.connect(self.reject)
        return buttons


def ask_upscale(upscaling: GalleryUpscaling, images: Sequence[Enlarged], parent: QWidget) -> None:
    """Ask how images are enlarged, and enlarge them."""
    size = f"{images[0].width} × {images[0].height}" if len(images) == 1 else ""
    dialog = UpscaleDialog(len(images), size, parent)
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    upscaling.listed.connect(dialog.show_upscalers)

    def start() -> None:
        strength = dialog.strength()
        if strength is None:
            upscaling.start([one.path for one in images], dialog.upscaler(), dialog.scale())
        else:
            upscaling.start_second_pass(images, dialog.upscaler(), dialog.scale(), strength)

    dialog.accepted.connect(start)
    upscaling.list_upscalers()
    dialog.open()
