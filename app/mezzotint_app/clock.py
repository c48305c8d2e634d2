"""Time as those see it who wait for something: tests put their own in its place."""

import time
from collections.abc import Callable
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
    """The machine's own."""

    def now(self) -> float:
        """Seconds of the monotonic clock."""
        return time.monotonic()

    def after(self, seconds: float, then: Callable[[], None]) -> Wait:
        """By a timer of Qt."""
        timer = QTimer(self)
        timer.setSingleShot(True)
        timer.timeout.connect(then)
        timer.timeout.connect(timer.deleteLater)
        timer.start(round(1000 * seconds))
        return _Timer(timer)


class _Timer:
    """A timer that deletes itself, stopped at most once."""

    def __init__(self, timer: QTimer) -> None:
        self._timer: QTimer | None = timer
        timer.destroyed.connect(self._forget)

    def stop(self) -> None:
        if self._timer is not None:
            self._timer.stop()
            self._timer.deleteLater()
            self._timer = None

    def _forget(self) -> None:
        self._timer = None


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
        """Until it is started again."""
        if self._wait is not None:
            self._wait.stop()
            self._wait = None

    def runs(self) -> bool:
        """Whether it does."""
        return self._wait is not None

    def _tick(self) -> None:
        self._wait = self._clock.after(self._seconds, self._tick)
        self._then()
