"""Lends the queue's lease to one borrower after another: a batch, a training."""

from collections.abc import Callable
from typing import Protocol

from PySide6.QtCore import QObject, Signal, SignalInstance


class Lender(Protocol):
    """The worker of the queue, as implemented by `QueueRunner`."""

    started: SignalInstance
    changed: SignalInstance

    @property
    def state(self) -> str:
        """idle, working, paused, elsewhere or stopping."""
        ...

    def held_by(self) -> str:
        """Return which other program holds the queue, or "" if none does."""
        ...

    def lend(self, then: Callable[[], None], who: str = "", because: str = "") -> None:
        """Lend the queue's lease as soon as it has nothing left to do."""
        ...

    def take_back(self) -> None:
        """Let the queue continue."""
        ...


class Loans:
    """The order of the borrowers; the first one has the lease, or is next to get it."""

    def __init__(self, lender: Lender) -> None:
        self.lender = lender
        self._line: list[Borrower] = []

    def ask(self, borrower: "Borrower") -> None:
        """Queue a borrower."""
        self._line.append(borrower)
        if len(self._line) == 1:
            self._lend()

    def give_back(self, borrower: "Borrower") -> None:
        """Serve the next borrower, or let the queue continue."""
        if borrower not in self._line:
            return
        was_first = self._line[0] is borrower
        self._line.remove(borrower)
        if was_first:
            self.lender.take_back()
            self._lend()

    def _lend(self) -> None:
        if self._line:
            first = self._line[0]
            self.lender.lend(first.lent, first.who, first.because)


class Borrower(QObject):
    """One of those that borrow the lease, who sees the others as programs that hold it."""

    started = Signal(object)
    changed = Signal()

    def __init__(self, loans: Loans, who: str, because: str, parent: QObject | None = None) -> None:
        """`who` and `because` tell the user why the queue waits: "A batch", "a batch was started"."""
        super().__init__(parent)
        self._loans, self.who, self.because = loans, who, because
        self._then: Callable[[], None] | None = None
        loans.lender.started.connect(self.started)
        loans.lender.changed.connect(self.changed)

    @property
    def state(self) -> str:
        """The queue's state."""
        return self._loans.lender.state

    def held_by(self) -> str:
        """Return who else holds the queue."""
        return self._loans.lender.held_by()

    def lend(self, then: Callable[[], None]) -> None:
        """Call `then` with the lease, once the queue and earlier borrowers are done."""
        self._then = then
        self._loans.ask(self)

    def take_back(self) -> None:
        """Give the lease back, or no longer wait for it."""
        self._then = None
        self._loans.give_back(self)

    def lent(self) -> None:
        """The lease is this borrower's."""
        then, self._then = self._then, None
        if then is not None:
            then()
