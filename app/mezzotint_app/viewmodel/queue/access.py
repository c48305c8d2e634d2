"""Access to the queue's store on a thread of its own: SQLite is never used on the UI thread."""

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from PySide6.QtCore import QObject, Signal

from mezzotint.errors import StorageError
from mezzotint_app.background import Executor, Failed
from mezzotint_app.clock import Clock, SystemClock, TimerHandle

if TYPE_CHECKING:
    from mezzotint.jobs.store import JobStore, Opened

T = TypeVar("T")

_RETRY_DELAY = 5.0  # seconds until another attempt to open it


class QueueAccess(QObject):
    """Queries and changes the store, and signals changes."""

    opened = Signal(object)  # what was repaired on opening, as text, or None
    unusable = Signal(str)  # why the queue cannot be opened; it is retried
    resolved = Signal(str)  # the problem reported by `unusable` is resolved
    changed = Signal()

    def __init__(
        self,
        background: Executor,
        open_store: "Callable[[], Opened]",
        parent: QObject | None = None,
        *,
        clock: Clock | None = None,
    ) -> None:
        super().__init__(parent)
        self._background, self._open_store = background, open_store
        self._clock = clock or SystemClock(self)
        self._store: JobStore | None = None
        self._problem = ""  # why it could not be opened; used on the store's thread
        self._reported = ""  # the same, as reported on the UI thread
        self._again: TimerHandle | None = None
        self._is_open, self._closed = False, False

    @property
    def is_open(self) -> bool:
        """Whether the store can be queried: opened and not closed."""
        return self._is_open and not self._closed

    def open(self) -> None:
        """Open the store, before any query. On failure it is retried until `close`."""
        if not self._closed:
            self._background.run(self._open, self._now_open, self._not_open)

    def ask(
        self, work: "Callable[[JobStore], T]", then: Callable[[T], None] | None = None, failed: Failed | None = None
    ) -> None:
        """Run a query; ignored once the store is closed."""
        if not self._closed:
            self._background.run(lambda: work(self._opened()), then, failed)

    def change(
        self, work: "Callable[[JobStore], T]", then: Callable[[T], None] | None = None, failed: Failed | None = None
    ) -> None:
        """Make a change; `changed` is emitted afterwards."""

        def done(value: T) -> None:
            if then is not None:
                then(value)
            self.changed.emit()

        self._background.run(lambda: work(self._opened()), done, failed)

    def close(self) -> None:
        """Close the store after all pending work."""
        self._closed = True
        if self._again is not None:
            self._again.stop()
        self._background.run(self._close)

    def _now_open(self, notice: str | None) -> None:
        self._is_open = True
        reported, self._reported = self._reported, ""
        if reported:
            self.resolved.emit(self._words(reported))
        self.opened.emit(notice)

    def _not_open(self, error: Exception) -> None:
        if self._closed:
            return
        self._again = self._clock.after(_RETRY_DELAY, self.open)
        if str(error) != self._reported:
            if self._reported:
                self.resolved.emit(self._words(self._reported))
            self._reported = str(error)
            self.unusable.emit(self._words(self._reported))

    def _words(self, problem: str) -> str:
        return self.tr("{0}. Nothing is lost; it is retried automatically.").format(problem)

    def _open(self) -> str | None:
        try:
            opened = self._open_store()
        except Exception as error:
            self._problem = str(error)
            raise
        self._store, self._problem = opened.store, ""
        return opened.notice

    def _close(self) -> None:
        if self._store is not None:
            self._store.close()
            self._store = None

    def _opened(self) -> "JobStore":
        if self._store is None and self._problem:
            raise StorageError(self._problem)
        if self._store is None:
            raise RuntimeError("the queue was asked before it was opened, or after it was closed")
        return self._store
