"""The notice above the gallery while images are edited: how far, and Cancel."""

from PySide6.QtWidgets import QPushButton

from mezzotint_app.viewmodel.gallery.upscaling import GalleryUpscaling
from mezzotint_app.widgets.notice_bar import NoticeBar


class UpscaleNotice(NoticeBar):
    """Hidden while nothing is edited."""

    def __init__(self, upscaling: GalleryUpscaling) -> None:
        super().__init__("image", "text")
        self._upscaling = upscaling
        self.cancel = self.add_button(QPushButton(self.tr("Cancel")))
        self.cancel.setToolTip(self.tr("Stop, and drop what is waiting"))
        self.cancel.clicked.connect(upscaling.cancel)
        upscaling.changed.connect(lambda: self.show_text(upscaling.status()))
