"""Time as those see it who wait for something: tests put their own in its place."""

import heapq
import itertools
import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from PySide6.QtCore import QObject, QTimer


class Wait(Protocol):
    """Something that will be done; it can be called off."""

    def stop(self) -> None:
        """Call it off; nothing happens where it is done already."""
        ...


class Clock(Protocol):
    """Tells the time, and does things later, on the thread that asked."""

    def now(self) -> float:
        """Seconds of a clock that is never set."""
        ...

    def after(self, seconds: float, then: Callable[[], None]) -> Wait:
        """Do it once, later; with 0 as soon as what is being done has ended."""
        ...


class SystemClock(QObject):
    """The machine's own. One timer for all that waits: a timer that deletes itself may take its owner with it."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._numbers = itertools.count()
        self._waiting: list[_Waiting] = []
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self._do_what_is_due)

    def now(self) -> float:
        """Seconds of the monotonic clock."""
        return time.monotonic()

    def after(self, seconds: float, then: Callable[[], None]) -> Wait:
        """Call it after so many seconds, by a QTimer."""
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

    def _do_what_is_due(self) -> None:
        """One thing at a time: what it does may take long, or open a window."""
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


class Every:
    """Does something again and again until it is stopped."""

    def __init__(self, clock: Clock, seconds: float, then: Callable[[], None]) -> None:
        self._clock, self._seconds, self._then = clock, seconds, then
        self._wait: Wait | None = None

    def start(self) -> None:
        """Begin, unless it runs."""
        if self._wait is None:
            self._wait = self._clock.after(self._seconds, self._tick)

    def stop(self) -> None:
        """Stop, until it is started again."""
        if self._wait is not None:
            self._wait.stop()
            self._wait = None

    def runs(self) -> bool:
        """Whether it runs."""
        return self._wait is not None

    def _tick(self) -> None:
        self._wait = self._clock.after(self._seconds, self._tick)
        self._then()
