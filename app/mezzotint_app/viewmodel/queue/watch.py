"""Signals actual changes of the queue, made by any program, with as few queries as possible."""

from PySide6.QtCore import QObject, QTimer, Signal

from mezzotint.jobs.store import JobStore
from mezzotint_app.viewmodel.queue.access import QueueAccess

_OTHERS = 1500  # milliseconds between checks for changes by other programs


class QueueWatch(QObject):
    """Compares the store's version, with at most one query in flight."""

    changed = Signal()
    failed = Signal(str)

    def __init__(self, access: QueueAccess, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._access = access
        self._version: int | None = None
        self._asking = self._again = False
        self._timer = QTimer(self)
        self._timer.setInterval(_OTHERS)
        self._timer.timeout.connect(self.look)
        access.opened.connect(lambda _notice: self._begin())
        access.changed.connect(self.look)

    def look(self) -> None:
        """Check whether the queue has changed."""
        if self._asking:
            self._again = True
            return
        self._asking, self._again = True, False
        self._access.ask(JobStore.version, self._seen, self._not_seen)

    def stop(self) -> None:
        """Stop polling, because the program is closing."""
        self._timer.stop()

    def _begin(self) -> None:
        self._timer.start()
        self.look()

    def _seen(self, version: int) -> None:
        self._asking = False
        if version != self._version:
            self._version = version
            self.changed.emit()
        if self._again:
            self.look()

    def _not_seen(self, error: Exception) -> None:
        self._asking = self._again = False
        self.failed.emit(str(error))
