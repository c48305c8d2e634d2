"""A clock that advances when the test says so."""

import heapq
import itertools
from collections.abc import Callable


class FakeWait:
    def __init__(self, due: float, then: Callable[[], object]) -> None:
        self.due, self.then, self.stopped = due, then, False

    def stop(self) -> None:
        self.stopped = True


class FakeClock:
    """`advance` runs all timers that become due, in order; `settle` those due now."""

    def __init__(self) -> None:
        self._now = 1000.0
        self._numbers = itertools.count()
        self._waits: list[tuple[float, int, FakeWait]] = []

    def now(self) -> float:
        return self._now

    def after(self, seconds: float, then: Callable[[], object]) -> FakeWait:
        wait = FakeWait(self._now + seconds, then)
        heapq.heappush(self._waits, (wait.due, next(self._numbers), wait))
        return wait

    def advance(self, seconds: float) -> None:
        end = self._now + seconds
        while self._waits and self._waits[0][0] <= end:
            due, _, wait = heapq.heappop(self._waits)
            self._now = max(self._now, due)
            if not wait.stopped:
                wait.stopped = True
                wait.then()
        self._now = end

    def settle(self) -> None:
        self.advance(0)

    def jump(self, seconds: float) -> None:
        """Advance as after the machine slept: time has passed, but no timer has run."""
        self._now += seconds
        self.settle()

    def waiting(self):
        """Return the number of pending timers."""
        return sum(not wait.stopped for _, _, wait in self._waits)
