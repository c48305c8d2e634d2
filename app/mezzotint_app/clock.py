"""A clock and delayed calls; tests substitute their own."""

import heapq
import itertools
import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from PySide6.QtCore import QObject, QTimer


class TimerHandle(Protocol):
    """A scheduled call that can be cancelled."""

    def stop(self) -> None:
        """Cancel the call; has no effect if it has already run."""
        ...


class Clock(Protocol):
    """Provides the time and delayed calls, which run on the calling thread."""

    def now(self) -> float:
        """Seconds of a monotonic clock."""
        ...

    def after(self, seconds: float, then: Callable[[], None]) -> TimerHandle:
        """Call `then` once after `seconds`; with 0, on the next iteration of the event loop."""
        ...


class SystemClock(QObject):
    """The system clock. One timer serves all calls, as a timer that deletes itself may take its owner with it."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._numbers = itertools.count()
        self._waiting: list[_Waiting] = []
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self._run_due)

    def now(self) -> float:
        """Seconds of the monotonic clock."""
        return time.monotonic()

    def after(self, seconds: float, then: Callable[[], None]) -> TimerHandle:
        """Call `then` after `seconds`, from a QTimer."""
        wait = _Waiting(self.now() + seconds, next(self._numbers), then)
        heapq.heappush(self._waiting, wait)
        if self._waiting[0] is wait:
            self._set()
        return wait

    def _set(self) -> None:
        while self._waiting and self._waiting[0].then is None:
            heapq.heappop(self._waiting)
        if self._waiting:
            self._timer.start(max(0, math.ceil(1000 * (self._waiting[0].due - self.now()))))

    def _run_due(self) -> None:
        """Run one call per timeout, as it may take long or open a window."""
        due = self._waiting and self._waiting[0].due <= self.now()
        then = heapq.heappop(self._waiting).take() if due else None
        self._set()
        if then is not None:
            then()


@dataclass(order=True)
class _Waiting:
    due: float
    number: int
    then: Callable[[], None] | None = field(compare=False)

    def stop(self) -> None:
        self.then = None

    def take(self) -> Callable[[], None] | None:
        then, self.then = self.then, None
        return then


class RepeatingTimer:
    """Calls a function repeatedly until stopped."""

    def __init__(self, clock: Clock, seconds: float, then: Callable[[], None]) -> None:
        self._clock, self._seconds, self._then = clock, seconds, then
        self._wait: TimerHandle | None = None

    def start(self) -> None:
        """Start, unless running."""
        if self._wait is None:
            self._wait = self._clock.after(self._seconds, self._tick)

    def stop(self) -> None:
        """Stop until restarted."""
        if self._wait is not None:
            self._wait.stop()
            self._wait = None

    def runs(self) -> bool:
        """Whether it is running."""
        return self._wait is not None

    def _tick(self) -> None:
        self._wait = self._clock.after(self._seconds, self._tick)
        self._then()
