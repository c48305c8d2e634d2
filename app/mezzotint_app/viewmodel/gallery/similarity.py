"""Sorts the gallery by similarity to an image; how images look is read once, in the background."""

from PySide6.QtCore import QCoreApplication, QLocale, QObject, Signal

from mezzotint.protocol import Progress
from mezzotint_app.processes.service import Failure, Service
from mezzotint_app.viewmodel.gallery.gallery import GalleryModel

_SEEN_FROM = 500  # images between refreshes of the list

translate = QCoreApplication.translate


class GallerySimilarity(QObject):
    """Shows the order at once by what is known, and again when all images were looked at."""

    changed = Signal()  # what `status` returns
    failed = Signal(str)

    def __init__(self, librarian: Service, model: GalleryModel, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._librarian, self._model = librarian, model
        self._call: int | None = None
        self._progress: Progress | None = None
        self._seen = 0

    def sort_by(self, path: str) -> None:
        """Sort all images of the list by their similarity to this one."""
        self._model.narrow(order="similar", similar_to=path)
        if self._call is None:
            self._seen = 0
            self._call = self._librarian.ask(
                "gallery.looks", answer=int, then=self._done, failed=self._failed, on_event=self._told
            )
            self.changed.emit()

    def cancel(self) -> None:
        """Stop looking at images; the order stays as far as they are known."""
        if self._call is not None:
            self._librarian.cancel(self._call)

    def status(self) -> str:
        """What is being done, in one line; empty if nothing is."""
        if self._call is None or self._progress is None or not self._progress.total:
            return ""
        locale, done = QLocale(), self._progress.done
        words = translate("GallerySimilarity", "Looking at images: {0} of {1}")
        return words.format(locale.toString(done), locale.toString(self._progress.total))

    def _told(self, event: object) -> None:
        if isinstance(event, Progress):
            self._progress = event
            if event.done >= self._seen + _SEEN_FROM:
                self._seen = event.done
                self._model.refresh()
            self.changed.emit()

    def _done(self, _unread: int) -> None:
        self._ended()

    def _failed(self, failure: Failure) -> None:
        self._ended()
        if failure.kind != "cancelled":
            self.failed.emit(failure.message)

    def _ended(self) -> None:
        looked, self._call, self._progress = self._progress is not None, None, None
        self.changed.emit()
        if looked:
            self._model.refresh()
