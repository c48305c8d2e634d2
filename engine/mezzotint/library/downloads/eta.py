"""Estimate of the time remaining from recent progress."""

import time
from collections import deque
from collections.abc import Callable

_WINDOW = 20.0  # seconds of progress that the estimate is based on
_LEAST = 1.0  # seconds of progress before there is an estimate


class EtaEstimator:
    """Time estimate over a sliding window of progress."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._points: deque[tuple[float, int]] = deque()

    def seconds_left(self, done: int, total: int | None) -> float | None:
        """Record progress and return the estimate, or None if there is too little data."""
        now = self._clock()
        if self._points and done < self._points[-1][1]:
            self._points.clear()  # restarted
        self._points.append((now, done))
        while now - self._points[0][0] > _WINDOW and len(self._points) > 2:
            self._points.popleft()
        then, before = self._points[0]
        if total is None or now - then < _LEAST or done <= before:
            return None
        return (total - done) * (now - then) / (done - before)
