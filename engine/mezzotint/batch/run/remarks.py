"""What workers remark on single images, told once: the same is true of most images of a batch."""

import threading
from collections import Counter, deque

from mezzotint.protocol import Notice

MOST_OF_ONE_CODE = 3  # messages with other figures in them are new only for a machine


class Remarks:
    """Heard on the threads of workers, told on the thread that runs the batch."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._heard: set[tuple[str, str]] = set()
        self._of_code: Counter[str] = Counter()
        self._new: deque[Notice] = deque()

    def hear(self, notice: Notice) -> None:
        """It is told if nothing like it was."""
        with self._lock:
            said = (notice.code, notice.message)
            if said in self._heard or self._of_code[notice.code] >= MOST_OF_ONE_CODE:
                return
            self._heard.add(said)
            self._of_code[notice.code] += 1
            self._new.append(notice)

    def new(self) -> list[Notice]:
        """Those that nobody was told of yet, in their order."""
        with self._lock:
            told = list(self._new)
            self._new.clear()
            return told
