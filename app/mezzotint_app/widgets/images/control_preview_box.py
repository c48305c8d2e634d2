"""What is made of a control image, below a button that makes it."""

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import QCheckBox, QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from mezzotint_app.viewmodel.create.images.control_previews import ControlPreview
from mezzotint_app.widgets.images.thumbnail_label import ThumbnailLabel
from mezzotint_app.widgets.labels import plain_label, sentence

_PICTURE = QSize(208, 156)


class ControlPreviewBox(QWidget):
    """Emits what the user wants."""

    wanted = Signal()
    save_wanted = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.make = QPushButton(self.tr("Preview"))
        self.make.setToolTip(self.tr("Show what is made of the image, as the ControlNet is given it"))
        self.make.clicked.connect(self.wanted)
        self.save = QPushButton(self.tr("Save…"))
        self.save.setToolTip(self.tr("Save what is made of the image"))
        self.save.clicked.connect(self.save_wanted)
        self.keep = QCheckBox(self.tr("Keep with results"))
        self.keep.setToolTip(self.tr("Save what is made of the image beside each result"))
        self._picture = ThumbnailLabel(_PICTURE)
        self._said = plain_label(role="muted", wrap=True)
        buttons = QHBoxLayout()
        buttons.setSpacing(8)
        buttons.addWidget(self.make)
        buttons.addWidget(self.save)
        buttons.addStretch(1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(4)
        layout.addLayout(buttons)
        layout.addWidget(self._picture)
        layout.addWidget(self._said)
        layout.addWidget(self.keep)
        self.show_preview(ControlPreview(), "")

    def show_preview(self, preview: ControlPreview, name: str) -> None:
        """Show it; `name`: of the image, for the controls' names."""
        self.make.setEnabled(preview.state != "working")
        self.make.setAccessibleName(self.tr("Preview {name}").format(name=name))
        self.save.setAccessibleName(self.tr("Save what is made of {name}").format(name=name))
        self.keep.setAccessibleName(self.tr("Keep what is made of {name} with results").format(name=name))
        self._picture.setAccessibleName(self.tr("What is made of {name}").format(name=name))
        self.save.setVisible(preview.state == "shown")
        self._picture.setVisible(preview.state == "shown")
        if preview.image is not None:
            self._picture.setFixedSize(preview.image.size().scaled(_PICTURE, Qt.AspectRatioMode.KeepAspectRatio))
        self._picture.show_image(preview.image)
        self._said.setText(self.tr("Preparing…") if preview.state == "working" else sentence(preview.problem))
        self._said.setVisible(preview.state in ("working", "failed"))
