"""The queue's store on a thread of its own: SQLite is never touched on the window's."""

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from PySide6.QtCore import QObject, Signal

from mezzotint_app.background import Failed, Runs

if TYPE_CHECKING:
    from mezzotint.jobs.store import JobStore, Opened

T = TypeVar("T")


class QueueAccess(QObject):
    """Asks the store and tells when it has changed."""

    opened = Signal(object)  # what was mended on the way, in words, or None
    unusable = Signal(str)  # why there is no queue
    changed = Signal()

    def __init__(self, background: Runs, open_store: "Callable[[], Opened]", parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._background, self._open_store = background, open_store
        self._store: JobStore | None = None

    def open(self) -> None:
        """Open it; nothing is asked before."""
        self._background.run(self._open, self.opened.emit, lambda error: self.unusable.emit(str(error)))

    def ask(
        self, work: "Callable[[JobStore], T]", then: Callable[[T], None] | None = None, failed: Failed | None = None
    ) -> None:
        """Read something."""
        self._background.run(lambda: work(self._opened()), then, failed)

    def change(
        self, work: "Callable[[JobStore], T]", then: Callable[[T], None] | None = None, failed: Failed | None = None
    ) -> None:
        """Change something; `changed` follows."""

        def told(value: T) -> None:
            if then is not None:
                then(value)
            self.changed.emit()

        self._background.run(lambda: work(self._opened()), told, failed)

    def close(self) -> None:
        """Let go of the store, after all that was asked."""
        self._background.run(self._close)

    def _open(self) -> str | None:
        opened = self._open_store()
        self._store = opened.store
        return opened.notice

    def _close(self) -> None:
        if self._store is not None:
            self._store.close()
            self._store = None

    def _opened(self) -> "JobStore":
        if self._store is None:
            raise RuntimeError("the queue was asked before it was opened, or after it was closed")
        return self._store
