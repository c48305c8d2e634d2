"""The notice above the gallery while images are looked at for sorting by similarity: how far, and Stop."""

from PySide6.QtWidgets import QPushButton

from mezzotint_app.viewmodel.gallery.similarity import GallerySimilarity
from mezzotint_app.widgets.notice_bar import NoticeBar


class SimilarityNotice(NoticeBar):
    """Hidden while nothing is looked at."""

    def __init__(self, similarity: GallerySimilarity) -> None:
        super().__init__("image", "text")
        self.stop = self.add_button(QPushButton(self.tr("Stop")))
        self.stop.setToolTip(self.tr("Stop looking at images; the others come last"))
        self.stop.clicked.connect(similarity.cancel)
        similarity.changed.connect(lambda: self.show_text(similarity.status()))
