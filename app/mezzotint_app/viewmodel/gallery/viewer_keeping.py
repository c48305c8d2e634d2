"""Persists the viewer's changes: ratings through the library service, deletions through the system's trash."""

from PySide6.QtCore import QObject, Signal

from mezzotint.library_protocol import Rating
from mezzotint_app.processes.service import Failure, Service
from mezzotint_app.viewmodel.gallery.trash import GalleryTrash
from mezzotint_app.viewmodel.gallery.viewer import ViewerModel


class ViewerKeeping(QObject):
    """The persistence of a ViewerModel."""

    changed = Signal()  # the gallery should refresh
    failed = Signal(str)

    def __init__(self, viewer: ViewerModel, librarian: Service, trash: GalleryTrash) -> None:
        super().__init__(viewer)
        self._viewer, self._librarian = viewer, librarian
        viewer.star_wanted.connect(self.rate)
        viewer.delete_wanted.connect(lambda path: trash.move([path]))
        viewer.undo_wanted.connect(trash.undo)
        trash.moved.connect(self._moved)
        trash.restored.connect(self._restored)
        trash.failed.connect(self.failed)

    def rate(self, path: str, stars: int) -> None:
        """Save an image's rating."""
        self._librarian.ask(
            "gallery.rate",
            Rating(paths=(path,), rating=stars),
            then=lambda _: self.changed.emit(),
            failed=self._refused,
        )

    def _moved(self, paths: tuple[str, ...]) -> None:
        for path in paths:
            self._viewer.forget(path)
        self._viewer.message.emit(self.tr("Moved to trash; Ctrl+Z restores it."))

    def _restored(self, paths: tuple[str, ...]) -> None:
        for path in paths:
            self._viewer.restore(path)

    def _refused(self, failure: Failure) -> None:
        self.failed.emit(failure.message)
