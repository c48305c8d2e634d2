"""How long work that is counted will take, by its pace of the last while."""

import time
from collections import deque
from collections.abc import Callable

_WINDOW = 20.0  # seconds that are looked back on
_LEAST = 1.0  # seconds of it, before anything is said


class Pace:
    """Hears how much is done."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._points: deque[tuple[float, int]] = deque()

    def seconds_left(self, done: int, total: int | None) -> float | None:
        """None while there is nothing to go by."""
        now = self._clock()
        if self._points and done < self._points[-1][1]:
            self._points.clear()  # begun anew
        self._points.append((now, done))
        while now - self._points[0][0] > _WINDOW and len(self._points) > 2:
            self._points.popleft()
        then, before = self._points[0]
        if total is None or now - then < _LEAST or done <= before:
            return None
        return (total - done) * (now - then) / (done - before)
