"""Which folders the gallery holds: looked through at the start, and again where a picture was saved."""

from collections.abc import Callable, Sequence
from pathlib import Path

from PySide6.QtCore import QObject, QTimer, Signal

from mezzotint.library_protocol import GalleryScan, GalleryScanned
from mezzotint.protocol import Event, Progress
from mezzotint_app.service import Failure, Service

_TOGETHER = 700  # milliseconds in which saved pictures are gathered


class GalleryScanner(QObject):
    """One scan at a time; what is asked meanwhile comes after it, once."""

    changed = Signal()  # whether it runs, and how far it is
    scanned = Signal(object)  # GalleryScanned
    failed = Signal(str)

    def __init__(self, librarian: Service, folders: Callable[[], Sequence[str]], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._librarian, self._folders = librarian, folders
        self._call: int | None = None
        self._waiting: dict[str, None] = {}
        self._progress: Progress | None = None
        self._known: tuple[str, ...] = ()
        self._soon = QTimer(self)
        self._soon.setSingleShot(True)
        self._soon.setInterval(_TOGETHER)
        self._soon.timeout.connect(self._begin)

    def scan(self) -> None:
        """Look through all folders."""
        self._known = tuple(self._folders())
        self._waiting = dict.fromkeys(self._known)
        self._begin()

    def folders_changed(self) -> None:
        """The settings name other folders, perhaps."""
        if tuple(self._folders()) != self._known:
            self.scan()

    def saved(self, path: str) -> None:
        """A picture has been written there; several in a short time are one scan."""
        self._waiting[str(Path(path).parent)] = None
        if not self._soon.isActive():
            self._soon.start()

    def cancel(self) -> None:
        """Stop looking; what was found stays."""
        self._waiting.clear()
        if self._call is not None:
            self._librarian.cancel(self._call)

    def is_running(self) -> bool:
        """Whether folders are being looked through."""
        return self._call is not None

    def progress(self) -> Progress | None:
        """How far it is, once that is known."""
        return self._progress

    def _begin(self) -> None:
        self._soon.stop()
        if self._call is not None or not self._waiting:
            return
        folders, self._waiting = tuple(self._waiting), {}
        self._call = self._librarian.ask(
            "gallery.scan",
            GalleryScan(folders=folders),
            answer=GalleryScanned,
            then=self._done,
            failed=self._not_done,
            on_event=self._event,
        )
        self.changed.emit()

    def _event(self, event: Event) -> None:
        if isinstance(event, Progress):
            self._progress = event
            self.changed.emit()

    def _done(self, scanned: GalleryScanned) -> None:
        self._ended()
        self.scanned.emit(scanned)
        self._begin()

    def _not_done(self, failure: Failure) -> None:
        self._ended()
        if failure.kind != "cancelled":
            self.failed.emit(failure.message)
        self._begin()

    def _ended(self) -> None:
        self._call, self._progress = None, None
        self.changed.emit()
