"""Which folders the gallery holds: looked through at the start; what is saved meanwhile is taken in by its name."""

import time
from collections.abc import Callable, Sequence

from PySide6.QtCore import QObject, QTimer, Signal

from mezzotint.library_protocol import GalleryScan, GalleryScanned
from mezzotint.protocol import Event, Notice, Progress
from mezzotint_app.processes.service import Failure, Service

AT_ONCE = 0.15  # seconds in which saved images are gathered
MOST_FILES = 500  # that are named in one question
TOGETHER = 0.7  # seconds until folders are looked through again
REST = 10  # times as long as the last scan took is waited until the next, so that scans stay a small part of the work
_LONGEST_REST = 30.0


class GalleryScanner(QObject):
    """One scan at a time; what is asked meanwhile comes after it, once."""

    changed = Signal()  # whether it runs, and how far it is
    scanned = Signal(object)  # GalleryScanned
    failed = Signal(str)
    told = Signal(str)  # such as that the index was damaged and is made again

    def __init__(
        self,
        librarian: Service,
        folders: Callable[[], Sequence[str]],
        parent: QObject | None = None,
        *,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(parent)
        self._librarian, self._folders, self._now = librarian, folders, now
        self._call: int | None = None
        self._again = False
        self._progress: Progress | None = None
        self._known: tuple[str, ...] = ()
        self._began = self._took = 0.0
        self._soon = QTimer(self)
        self._soon.setSingleShot(True)
        self._soon.timeout.connect(self.scan)
        self._files: dict[str, None] = {}
        self._taking: int | None = None
        self._take_soon = QTimer(self)
        self._take_soon.setSingleShot(True)
        self._take_soon.setInterval(round(1000 * AT_ONCE))
        self._take_soon.timeout.connect(self._take_in)

    def scan(self) -> None:
        """Look through all folders, now or as soon as the present scan is done."""
        self._soon.stop()
        if self._call is not None:
            self._again = True
            return
        self._known, self._again, self._began = tuple(self._folders()), False, self._now()
        self._call = self._librarian.ask(
            "gallery.scan",
            GalleryScan(folders=self._known),
            answer=GalleryScanned,
            then=self._done,
            failed=self._not_done,
            on_event=self._event,
        )
        self.changed.emit()

    def folders_changed(self) -> None:
        """The settings name other folders, perhaps."""
        if tuple(self._folders()) != self._known:
            self.scan()

    def saved(self, path: str) -> None:
        """This image has been written; several in a short time are one question, and no folder is looked through."""
        self._files[path] = None
        if self._taking is None and not self._take_soon.isActive():
            self._take_soon.start()

    def look_again(self) -> None:
        """Others may have changed the folders; asked several times in a short time, it is one scan."""
        if not self._soon.isActive():
            self._soon.start(round(1000 * self.pause()))

    def pause(self) -> float:
        """Seconds until folders are looked through again."""
        return max(TOGETHER, min(_LONGEST_REST, REST * self._took))

    def cancel(self) -> None:
        """Stop looking; what was found stays."""
        self._again = False
        if self._call is not None:
            self._librarian.cancel(self._call)

    def is_running(self) -> bool:
        """Whether folders are being looked through."""
        return self._call is not None

    def progress(self) -> Progress | None:
        """How far it is, once that is known."""
        return self._progress

    def _event(self, event: Event) -> None:
        if isinstance(event, Progress):
            self._progress = event
            self.changed.emit()
        elif isinstance(event, Notice):
            self.told.emit(event.message)

    def _take_in(self) -> None:
        files = tuple(self._files)[:MOST_FILES]
        self._files = dict.fromkeys(tuple(self._files)[MOST_FILES:])
        self._taking = self._librarian.ask(
            "gallery.scan",
            GalleryScan(folders=tuple(self._folders()), files=files),
            answer=GalleryScanned,
            then=self._taken,
            failed=self._not_taken,
        )

    def _taken(self, scanned: GalleryScanned) -> None:
        self._taking = None
        self.scanned.emit(scanned)
        if self._files:
            self._take_soon.start()

    def _not_taken(self, _failure: Failure) -> None:
        self._taking = None
        self.look_again()  # which finds them too, and tells why where it cannot
        if self._files:
            self._take_soon.start()

    def _done(self, scanned: GalleryScanned) -> None:
        self._ended()
        self.scanned.emit(scanned)

    def _not_done(self, failure: Failure) -> None:
        self._ended()
        if failure.kind != "cancelled":
            self.failed.emit(failure.message)

    def _ended(self) -> None:
        self._call, self._progress = None, None
        self._took = self._now() - self._began
        self.changed.emit()
        if self._again:
            self.look_again()
