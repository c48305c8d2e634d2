"""Scans the gallery's folders at start-up; images saved later are added by file name."""

import time
from collections.abc import Callable, Sequence

from PySide6.QtCore import QObject, QTimer, Signal

from mezzotint.library_protocol import GalleryScan, GalleryScanned
from mezzotint.protocol import Event, Notice, Progress
from mezzotint_app.processes.service import Failure, Service

COLLECT_SECONDS = 0.15  # seconds during which saved images are collected
MOST_FILES = 500  # per request
TOGETHER = 0.7  # minimum seconds until the folders are scanned again
REST = 10  # delay until the next scan, in durations of the last one, to limit the load
_LONGEST_REST = 30.0


class GalleryScanner(QObject):
    """Runs one scan at a time; requests made meanwhile result in one more."""

    changed = Signal()  # is_running(), progress()
    scanned = Signal(object)  # GalleryScanned
    failed = Signal(str)
    message = Signal(str)  # notices, such as that a damaged index is being rebuilt

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
        self._take_soon.setInterval(round(1000 * COLLECT_SECONDS))
        self._take_soon.timeout.connect(self._take_in)

    def scan(self) -> None:
        """Scan all folders now, or after the current scan."""
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
        """Scan if the settings now name different folders."""
        if tuple(self._folders()) != self._known:
            self.scan()

    def saved(self, path: str) -> None:
        """Add a saved image; several within a short time form one request, and no folder is scanned."""
        self._files[path] = None
        if self._taking is None and not self._take_soon.isActive():
            self._take_soon.start()

    def rescan_later(self) -> None:
        """Schedule a scan because others may have changed the folders; several calls result in one scan."""
        if not self._soon.isActive():
            self._soon.start(round(1000 * self.pause()))

    def pause(self) -> float:
        """Return the delay until the next scan in seconds."""
        return max(TOGETHER, min(_LONGEST_REST, REST * self._took))

    def cancel(self) -> None:
        """Cancel the scan; images found so far are kept."""
        self._again = False
        if self._call is not None:
            self._librarian.cancel(self._call)

    def is_running(self) -> bool:
        """Whether a scan is in progress."""
        return self._call is not None

    def progress(self) -> Progress | None:
        """Return the scan's progress, or None if not yet known."""
        return self._progress

    def _event(self, event: Event) -> None:
        if isinstance(event, Progress):
            self._progress = event
            self.changed.emit()
        elif isinstance(event, Notice):
            self.message.emit(event.message)

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
        self.rescan_later()  # finds them too, and reports errors
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
            self.rescan_later()
