"""Notices of workers on single images, reported once: most apply to most images of a batch."""

import threading
from collections import Counter, deque

from mezzotint.protocol import Notice

MOST_OF_ONE_CODE = 3  # messages that differ only in their numbers are no news to people


class Remarks:
    """Collects notices on worker threads, for the thread that runs the batch."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._heard: set[tuple[str, str]] = set()
        self._of_code: Counter[str] = Counter()
        self._new: deque[Notice] = deque()

    def add(self, notice: Notice) -> None:
        """Queue a notice unless a similar one was reported."""
        with self._lock:
            said = (notice.code, notice.message)
            if said in self._heard or self._of_code[notice.code] >= MOST_OF_ONE_CODE:
                return
            self._heard.add(said)
            self._of_code[notice.code] += 1
            self._new.append(notice)

    def new(self) -> list[Notice]:
        """Return the notices not reported yet, in order."""
        with self._lock:
            told = list(self._new)
            self._new.clear()
            return told
