"""The mask editor, in which a mask is painted and the canvas is extended."""

from collections.abc import Callable
from dataclasses import replace

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QImage, QKeySequence, QShortcut
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QHBoxLayout, QPushButton, QScrollArea, QVBoxLayout, QWidget

from mezzotint_app.background import Executor
from mezzotint_app.processes.service import Failure
from mezzotint_app.viewmodel.create.images.image_input import ImageInputModel
from mezzotint_app.viewmodel.create.images.mask import LARGEST_SIDE, MaskDocument, mask_size
from mezzotint_app.viewmodel.foreign_text import in_lines
from mezzotint_app.viewmodel.pixels import LoadedImage
from mezzotint_app.widgets.images.mask_canvas import MaskCanvas
from mezzotint_app.widgets.labels import plain_label
from mezzotint_app.windows.create.mask_settings import MaskSettings
from mezzotint_app.windows.create.mask_tools import MaskTools

_BRUSH = 0.08  # initial brush size, relative to the longer side of the image


class MaskEditor(QDialog):
    """Edits the mask of an ImageInputModel; nothing changes until "Apply"."""

    def __init__(
        self, model: ImageInputModel, image: LoadedImage, parent: QWidget | None = None, *, pool: Executor | None = None
    ) -> None:
        super().__init__(parent)
        self._model = model
        self._size = QSize(image.width, image.height)
        self._document = MaskDocument(*mask_size(image.width, image.height), self)
        self.canvas = MaskCanvas(self._document, pool=pool)
        self.settings = MaskSettings((image.width, image.height), model.inpaint_settings(), model.outpaint_padding())
        self.tools = MaskTools(self.canvas, self._document)
        self._reading = 0
        self._problem = plain_label(role="error", wrap=True)
        self._problem.hide()
        self._build()
        self._load()

    def _build(self) -> None:
        self.setWindowTitle(self.tr("Inpaint / outpaint"))
        side = QScrollArea()
        side.setWidget(self.settings)
        side.setWidgetResizable(True)
        side.setAccessibleName(self.tr("Inpaint settings"))
        side.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        side.setMinimumWidth(self.settings.minimumSizeHint().width() + 24)
        side.setMaximumWidth(340)
        middle = QHBoxLayout()
        middle.setSpacing(16)
        middle.addWidget(self.canvas, 1)
        middle.addWidget(side)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(16, 12, 16, 16)
        layout.setSpacing(12)
        layout.addWidget(self.tools)
        layout.addLayout(middle, 1)
        layout.addWidget(self._problem)
        layout.addLayout(self._build_end())
        self.canvas.outpaint_padding_changed.connect(
            lambda: self.settings.show_outpaint_padding(self.canvas.outpaint_padding())
        )
        self.settings.outpaint_padding_changed.connect(self.canvas.set_outpaint_padding)
        redo = QShortcut(QKeySequence("Ctrl+Y"), self)
        redo.activated.connect(self._document.redo)

    def _build_end(self) -> QHBoxLayout:
        hint = plain_label(
            self.tr("The painted area is generated. Without a mouse: arrow keys move the brush, Space paints."),
            role="muted",
            wrap=True,
        )
        self._buttons = QDialogButtonBox()
        self._use = QPushButton(self.tr("Apply"))
        self._use.setProperty("role", "primary")
        self._use.setAccessibleName(self.tr("Apply mask and canvas"))
        self._use.setToolTip(self.tr("Apply the mask, the canvas and the fill (Ctrl+Enter)"))
        self._use.setShortcut(QKeySequence("Ctrl+Return"))
        self._use.setDefault(False)
        self._use.setAutoDefault(False)
        cancel = QPushButton(self.tr("Cancel"))
        cancel.setToolTip(self.tr("Discard changes (Esc)"))
        cancel.setAutoDefault(False)
        self._buttons.addButton(cancel, QDialogButtonBox.ButtonRole.RejectRole)
        self._buttons.addButton(self._use, QDialogButtonBox.ButtonRole.AcceptRole)
        self._buttons.accepted.connect(self.use)
        self._buttons.rejected.connect(self.reject)
        row = QHBoxLayout()
        row.setSpacing(16)
        row.addWidget(hint, 1)
        row.addWidget(self._buttons)
        return row

    # ---- loading

    def _load(self) -> None:
        self._use.setEnabled(False)
        self.tools.setEnabled(False)
        self.canvas.clear(self.tr("Loading image…"))
        self._read(self._model.path(), self._image_is_there, self._show_failure)

    def _read(self, path: str, then: Callable[[QImage], None], failed: Callable[[Failure], None]) -> None:
        self._reading = self._model.loader.load(path, LARGEST_SIDE, then, failed, slot="mask editor")

    def _image_is_there(self, image: QImage) -> None:
        self.canvas.show_image(image, size=self._size)
        self.canvas.set_outpaint_padding(self.settings.outpaint_padding())
        longer = max(self._size.width(), self._size.height())
        self.canvas.set_brush(replace(self.canvas.brush(), size=round(longer * _BRUSH)))
        mask = self._model.mask()
        if mask is None:
            self._begin()
        elif mask.image is not None:
            self._mask_is_there(mask.image)
        else:
            self._read(mask.path, self._mask_is_there, self._no_mask)

    def _mask_is_there(self, mask: QImage) -> None:
        self._document.load(mask)
        self._begin()

    def _no_mask(self, failure: Failure) -> None:
        """Report that the old mask could not be read, and let the user paint a new one."""
        self._show_failure(failure)
        self._begin()

    def _begin(self) -> None:
        self._use.setEnabled(True)
        self.tools.setEnabled(True)
        self.canvas.setFocus()

    # ---- applying

    def use(self) -> None:
        """Apply mask and canvas; the dialog closes once the mask has been written to disk."""
        self._document.end()
        self._use.setEnabled(False)
        self._model.use_mask(
            self._document.image(),
            self.settings.inpaint_settings(),
            self.settings.outpaint_padding(),
            self.accept,
            self._not_used,
        )

    def done(self, result: int) -> None:
        """Close the dialog and drop the results of pending reads and writes."""
        self._model.loader.drop(self._reading)
        if result != QDialog.DialogCode.Accepted:
            self._model.give_up_mask()
        super().done(result)

    def _not_used(self, failure: Failure) -> None:
        self._use.setEnabled(True)
        self._show_failure(failure)

    def _show_failure(self, failure: Failure) -> None:
        self._problem.setText(in_lines(failure.message))
        self._problem.show()
        if not self.canvas.has_image():
            self.canvas.clear(self.tr("The image could not be read."))
