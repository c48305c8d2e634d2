"""The lease on the queue: acquired when it is free, released before the window closes."""

from collections.abc import Callable

from PySide6.QtCore import QObject, Signal

from mezzotint.jobs.store import Held, Lease
from mezzotint_app.clock import Clock
from mezzotint_app.viewmodel.queue import runner_work
from mezzotint_app.viewmodel.queue.access import QueueAccess
from mezzotint_app.viewmodel.queue.runner_work import AcquiredLease

_RETRY_DELAY = 5.0  # seconds between attempts


class LeaseKeeper(QObject):
    """Tries to acquire the lease, and then keeps it."""

    changed = Signal()  # lease() or held_by()
    recovered = Signal(object)  # Recovered: what an earlier process left behind
    failed = Signal(object)  # Exception; it is retried

    def __init__(self, queue: QueueAccess, clock: Clock, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._queue, self._clock = queue, clock
        self._lease: Lease | None = None
        self._held: Held | None = None
        self._given_back = self._lent = False
        self._borrower = ""

    def lease(self) -> Lease | None:
        """Return our lease, or None."""
        return self._lease

    def held_by(self) -> str:
        """Return who else holds the lease, or "" if nobody does."""
        if self._lent:
            return self._borrower
        return "" if self._held is None else str(self._held)

    def is_lent(self) -> bool:
        """Whether the lease is lent to another process of this window."""
        return self._lent

    def take(self) -> None:
        """Acquire the lease as soon as it is free."""
        if not self._given_back and not self._lent and self._lease is None:
            self._queue.ask(lambda store: runner_work.take(store, self.tr("the window")), self._taken, self._not_taken)

    def lend(self, because: str, then: Callable[[], None], who: str = "") -> None:
        """Lend the lease to a process of this window until `take_back`; call this while we hold it."""
        lease, self._lease, self._lent = self._lease, None, True
        self._borrower = who or self.tr("A batch")
        self.changed.emit()
        if lease is not None:
            self._queue.ask(
                lambda store: runner_work.release(store, lease, because), lambda _: then(), lambda _: then()
            )

    def take_back(self) -> None:
        """Reacquire the lease as soon as it is free, because the borrowing process has ended."""
        if self._lent:
            self._lent = False
            self.take()
            self.changed.emit()

    def give_back(self, because: str, then: Callable[[], None]) -> None:
        """Release the lease for good and requeue what was claimed under it, then call `then`."""
        self._given_back = True
        lease, self._lease = self._lease, None
        if lease is None:
            then()
        else:
            self._queue.ask(
                lambda store: runner_work.release(store, lease, because), lambda _: then(), lambda _: then()
            )

    def _taken(self, found: AcquiredLease | Held) -> None:
        if self._lent or self._lease is not None:  # requested before it was lent, or twice
            if isinstance(found, AcquiredLease):
                found.lease.release()
        elif isinstance(found, Held):
            was = self.held_by()
            self._held = found
            self._clock.after(_RETRY_DELAY, self.take)
            if was != self.held_by():
                self.changed.emit()
        elif self._given_back:
            found.lease.release()
        else:
            self._held, self._lease = None, found.lease
            self.recovered.emit(found.recovered)
            self.changed.emit()

    def _not_taken(self, error: Exception) -> None:
        self._clock.after(_RETRY_DELAY, self.take)
        self.failed.emit(error)
