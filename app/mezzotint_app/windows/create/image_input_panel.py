"""The init image section of the Create page: drop, paste or choose an image; strength, mask and canvas."""

from pathlib import Path

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import QFileDialog, QHBoxLayout, QPushButton, QSlider, QVBoxLayout, QWidget

from mezzotint_app.resources import icon
from mezzotint_app.viewmodel.create.images.image_input import ImageInputModel
from mezzotint_app.viewmodel.dropped.data import DropData
from mezzotint_app.viewmodel.foreign_text import in_lines
from mezzotint_app.widgets.drop_area import DropArea, DropHint
from mezzotint_app.widgets.icon_button import icon_button
from mezzotint_app.widgets.images.thumbnail_label import ThumbnailLabel
from mezzotint_app.widgets.labels import ElidedLabel, plain_label
from mezzotint_app.windows.create.image_input_words import part_words, size_words, strength_words

_THUMBNAIL = QSize(96, 96)
_STEPS = 100  # slider steps


class ImageInputPanel(DropArea):
    """Shows an ImageInputModel and forwards input to it."""

    message = Signal(str)  # a message for the user
    canvas_wanted = Signal()  # to paint a mask, or to extend the image

    def __init__(self, model: ImageInputModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._model = model
        self.setAccessibleName(self.tr("Init image"))
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        self._empty, self._full = self._build_empty(), self._build_full()
        layout.addWidget(self._empty)
        layout.addWidget(self._full)
        self.dropped.connect(self.take)
        model.changed.connect(self._show)
        model.message.connect(self.message)
        self._show()

    # ---- setup

    def _build_empty(self) -> QWidget:
        hint = DropHint(self.tr("Drop an init image here, or"))
        choose = QPushButton(icon("open"), self.tr("Choose…"))
        choose.setAccessibleName(self.tr("Choose an init image"))
        choose.setToolTip(self.tr("Choose an image file"))
        choose.clicked.connect(self.choose)
        paste = QPushButton(icon("paste"), self.tr("Paste"))
        paste.setAccessibleName(self.tr("Paste an init image"))
        paste.setToolTip(self.tr("Use the image on the clipboard (Ctrl+V)"))
        paste.clicked.connect(self.paste)
        row = QHBoxLayout()
        row.addStretch()
        row.addWidget(choose)
        row.addWidget(paste)
        row.addStretch()
        buttons = QWidget()
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(8)
        buttons.setLayout(row)
        hint.add(buttons)
        return hint

    def _build_full(self) -> QWidget:
        full = QWidget()
        layout = QVBoxLayout(full)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(8)
        self._part = plain_label(wrap=True)
        self._size = plain_label(role="muted", wrap=True)
        layout.addLayout(self._build_head())
        layout.addWidget(self._build_strength())
        layout.addLayout(self._build_actions())
        layout.addWidget(self._part)
        layout.addWidget(self._size)
        layout.addWidget(self._own, 0, Qt.AlignmentFlag.AlignLeft)
        layout.addStretch()
        return full

    def _build_head(self) -> QHBoxLayout:
        self._thumbnail = ThumbnailLabel(_THUMBNAIL)
        self._thumbnail.setAccessibleName(self.tr("Thumbnail of the init image"))
        self._name = ElidedLabel()
        self._facts = plain_label(role="muted", wrap=True)
        self._problem = plain_label(role="error", wrap=True)
        replace = icon_button("open", self.tr("Choose another image"))
        replace.clicked.connect(self.choose)
        remove = icon_button("remove", self.tr("Remove the init image"))
        remove.clicked.connect(self._model.clear)
        buttons = QHBoxLayout()
        buttons.setSpacing(4)
        buttons.addWidget(replace)
        buttons.addWidget(remove)
        buttons.addStretch()
        words = QVBoxLayout()
        words.setSpacing(4)
        for widget in (self._name, self._facts, self._problem):
            words.addWidget(widget)
        words.addLayout(buttons)
        words.addStretch()
        head = QHBoxLayout()
        head.setSpacing(12)
        head.addWidget(self._thumbnail, 0, Qt.AlignmentFlag.AlignTop)
        head.addLayout(words, 1)
        return head

    def _build_strength(self) -> QWidget:
        box = QWidget()
        self._slider = QSlider(Qt.Orientation.Horizontal)
        self._slider.setRange(0, _STEPS)
        self._slider.setPageStep(10)
        self._slider.setAccessibleName(self.tr("Denoising strength"))
        self._slider.setToolTip(self.tr("Low stays close to the image, high changes more of it."))
        self._slider.valueChanged.connect(self._slid)
        title = plain_label(self.tr("Strength"))
        title.setBuddy(self._slider)
        self._percent = plain_label()
        self._percent.setMinimumWidth(self._percent.fontMetrics().horizontalAdvance("100 %"))
        self._percent.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        row = QHBoxLayout()
        row.setSpacing(8)
        row.addWidget(title)
        row.addWidget(self._slider, 1)
        row.addWidget(self._percent)
        self._meaning = plain_label(role="muted", wrap=True)
        layout = QVBoxLayout(box)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(4)
        layout.addLayout(row)
        layout.addWidget(self._meaning)
        return box

    def _build_actions(self) -> QHBoxLayout:
        self._edit = QPushButton(icon("brush"), self.tr("Inpaint / outpaint…"))
        self._edit.setToolTip(self.tr("Opens the canvas: paint a mask, or move the frame beyond the image"))
        self._edit.clicked.connect(self.canvas_wanted)
        self._own = QPushButton(icon("crop"), self.tr("Use its size"))
        self._own.setProperty("role", "quiet")
        self._own.setToolTip(self.tr("Use the size of this image"))
        self._own.clicked.connect(self._model.request_image_size)
        self._no_mask = icon_button("clear", self.tr("Remove the mask and the extended canvas"))
        self._no_mask.clicked.connect(self._model.remove_mask)
        row = QHBoxLayout()
        row.setSpacing(4)
        row.addWidget(self._edit, 1)
        row.addWidget(self._no_mask)
        return row

    # ---- display

    def _show(self) -> None:
        model = self._model
        self._empty.setVisible(not model.path())
        self._full.setVisible(bool(model.path()))
        self._show_image()
        strength = model.strength()
        if strength is not None:
            self._slider.blockSignals(True)
            self._slider.setValue(round(strength * _STEPS))
            self._slider.blockSignals(False)
            self._percent.setText(self.tr("{0} %").format(round(strength * 100)))
            self._meaning.setText(strength_words(strength))
        self._show_sizes()

    def _show_image(self) -> None:
        model, image = self._model, self._model.image()
        self._name.setText(Path(model.path()).name if model.path() else "")
        self._problem.setText(in_lines(model.problem()))
        self._problem.setVisible(bool(model.problem()))
        self._edit.setEnabled(image is not None)
        if image is None:
            self._thumbnail.show_image(None)
            self._facts.setText(self.tr("Reading…") if model.is_loading() else "")
            return
        self._thumbnail.show_image(image.image)
        self._facts.setText(self.tr("{0} × {1} pixels").format(image.width, image.height))

    def _show_sizes(self) -> None:
        model = self._model
        part, size = part_words(model), size_words(model)
        self._part.setText(part)
        self._part.setVisible(bool(part))
        self._no_mask.setVisible(bool(part))
        self._size.setText(size)
        self._size.setVisible(bool(size))
        self._own.setVisible(model.extended_size() is not None and not model.keeps_size())

    # ---- actions

    def take(self, what: DropData) -> None:
        """Use a dropped or pasted image as init image."""
        if what.paths:
            self._model.set_image(what.paths[0])
        elif what.image is not None:
            self._model.paste(what.image)
        elif what.elsewhere:
            self.message.emit(self.tr("That is a web address, not a file: save the image first, then drop the file."))
        else:
            self.message.emit(self.tr("There is no init image."))

    def choose(self) -> QFileDialog:
        """Open a file dialog."""
        dialog = QFileDialog(self, self.tr("Choose an init image"), str(Path(self._model.path() or ".").parent))
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.setNameFilters(
            [
                self.tr("Images") + " (*.png *.jpg *.jpeg *.webp *.avif *.tif *.tiff *.bmp *.gif)",
                self.tr("All files") + " (*)",
            ]
        )
        dialog.fileSelected.connect(self._model.set_image)
        dialog.open()
        return dialog

    def _slid(self, value: int) -> None:
        self._model.set_strength(value / _STEPS)
