"""What the viewer wants kept: stars with the librarian, images in the system's trash."""

from PySide6.QtCore import QObject, Signal

from mezzotint.library_protocol import Rating
from mezzotint.trouble import shown
from mezzotint_app.background import Runs
from mezzotint_app.processes.service import Failure, Service
from mezzotint_app.viewmodel.gallery.actions import Trash, to_trash
from mezzotint_app.viewmodel.gallery.viewer import ViewerModel


class ViewerKeeping(QObject):
    """Stands behind a ViewerModel."""

    changed = Signal()  # the gallery should look again
    failed = Signal(str)

    def __init__(self, viewer: ViewerModel, librarian: Service, files: Runs, *, trash: Trash = to_trash) -> None:
        super().__init__(viewer)
        self._viewer, self._librarian, self._files, self._trash = viewer, librarian, files, trash
        viewer.star_wanted.connect(self.rate)
        viewer.delete_wanted.connect(self.delete)

    def rate(self, path: str, stars: int) -> None:
        """Give an image so many stars."""
        self._librarian.ask(
            "gallery.rate",
            Rating(paths=(path,), rating=stars),
            then=lambda _: self.changed.emit(),
            failed=self._refused,
        )

    def delete(self, path: str) -> None:
        """Into the trash; the viewer goes on to the next when it is gone."""
        trash = self._trash
        self._files.run(
            lambda: trash(path),
            lambda problem: self._deleted(path, problem),
            lambda error: self._deleted(path, str(error)),
        )

    def _deleted(self, path: str, problem: str) -> None:
        if problem:
            words = self.tr("{path} could not be moved to the trash: {why}")
            self.failed.emit(words.format(path=shown(path), why=problem))
            return
        self._viewer.forget(path)
        self._librarian.ask(
            "gallery.forget", {"paths": [path]}, then=lambda _: self.changed.emit(), failed=self._refused
        )

    def _refused(self, failure: Failure) -> None:
        self.failed.emit(failure.message)
