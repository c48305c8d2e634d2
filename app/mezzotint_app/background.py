"""Background threads: all file access, SQLite and decoding run here, never on the window's thread."""

import contextlib
from collections.abc import Callable
from typing import Any, Protocol, TypeVar

from PySide6.QtCore import QObject, QRunnable, Qt, QThreadPool, Signal

T = TypeVar("T")

Then = Callable[[Any], None]
Failed = Callable[[Exception], None]


class Executor(Protocol):
    """Runs work on another thread; `then` and `failed` are called on the window's thread."""

    def run(self, work: Callable[[], T], then: Callable[[T], None] | None = None, failed: Failed | None = None) -> None:
        """Start `work`; returns at once."""
        ...


class Background(QObject):
    """Runs work in order on a single thread, for whatever is bound to a thread, such as SQLite."""

    _ended = Signal(int, bool, object)

    def __init__(self, parent: QObject | None = None, *, threads: int = 1) -> None:
        super().__init__(parent)
        # Callbacks are kept here until called: the window's thread must drop the last reference to a Qt object.
        self._begun: dict[int, tuple[Callable[[], Any], Then | None, Failed]] = {}
        self._count = 0
        self._pool = QThreadPool()
        self._pool.setMaxThreadCount(threads)
        self._pool.setExpiryTimeout(-1)  # a connection stays with the thread that opened it
        self._unhandled: Failed = _raise
        self._ended.connect(self._deliver, Qt.ConnectionType.QueuedConnection)

    def on_unhandled(self, unhandled: Failed) -> None:
        """Set the handler for errors of work that has no `failed`."""
        self._unhandled = unhandled

    def run(self, work: Callable[[], T], then: Callable[[T], None] | None = None, failed: Failed | None = None) -> None:
        """Queue `work` behind earlier work; returns at once."""
        self._count += 1
        self._begun[self._count] = work, then, failed or self._fail
        self._pool.start(_Task(self._count, work, self._ended))

    def finish(self, milliseconds: int = 10_000) -> bool:
        """Wait for all queued work, at program end only. Returns whether it finished in time."""
        return self._pool.waitForDone(milliseconds)

    def _fail(self, error: Exception) -> None:
        self._unhandled(error)

    def _deliver(self, number: int, went_well: bool, value: Any) -> None:  # noqa: ANN401
        _work, then, failed = self._begun.pop(number)
        if not went_well:
            failed(value)
        elif then is not None:
            then(value)


class Pool(Background):
    """Runs several pieces of work at once, in any order: decoding of previews and thumbnails."""

    def __init__(self, parent: QObject | None = None, *, threads: int = 2) -> None:
        super().__init__(parent, threads=threads)


class _Task(QRunnable):
    def __init__(self, number: int, work: Callable[[], Any], ended: Any) -> None:  # noqa: ANN401
        super().__init__()
        self._number, self._work, self._ended = number, work, ended

    def run(self) -> None:
        """Run the work on a thread of the pool."""
        try:
            value = self._work()
        except Exception as error:  # noqa: BLE001  reported on the window's thread
            self._tell(False, error)
        else:
            self._tell(True, value)

    def _tell(self, went_well: bool, value: object) -> None:
        with contextlib.suppress(RuntimeError):  # deleted: the program ended before the work did
            self._ended.emit(self._number, went_well, value)


def _raise(error: Exception) -> None:
    raise error
