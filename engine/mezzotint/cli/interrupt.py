"""Ctrl-C: asked once, the work stops after its step; asked twice, or before there is work to lose, at once."""

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

INTERRUPTED = 130  # 128 + SIGINT
_SHOW_CURSOR = "\x1b[?25h"  # a progress bar hides it


class Interrupt:
    """What the person's Ctrl-C means at the moment."""

    def __init__(self, tell: Callable[[str], None] | None = None, end: Callable[[int], object] = os._exit) -> None:
        self._tell = _tell_on_stderr if tell is None else tell
        self._end = end
        self._soft = False
        self._asked = False
        self.finishes = "this step"  # what is not broken off
        self.last_words: Callable[[], None] = lambda: None  # said when the process ends at once
        self.exit_code = INTERRUPTED  # 128 and the number of the signal that asked

    def asked(self) -> bool:
        """Whether the person wants the work to stop."""
        return self._asked

    def ask(self) -> None:
        """Ask for work that can stop in good order to do so; asked again, nothing changes."""
        if self._soft and not self._asked:
            self.handle(0, None)

    def soften(self) -> None:
        """There is work now that can stop in good order: the first Ctrl-C only asks."""
        self._soft = True

    def handle(self, number: int, _frame: object) -> None:
        """One Ctrl-C, or another signal that asks."""
        if self._soft and not self._asked:
            self._asked = True
            self.exit_code = 128 + number if number else INTERRUPTED
            self._tell(f"\nstopping after {self.finishes}; press Ctrl-C again to stop now\n")
            return
        self._tell(f"{_SHOW_CURSOR if os.isatty(2) else ''}\nmezzotint: interrupted\n")
        self.last_words()
        # No exception: it would surface inside whatever is being imported or computed, as a traceback or not at all.
        self._end(128 + number if number else INTERRUPTED)

    @contextmanager
    def installed(self) -> Iterator[None]:
        """Be what Ctrl-C does, for a while."""
        if threading.current_thread() is not threading.main_thread():
            yield  # only the main thread may
            return
        before = signal.signal(signal.SIGINT, self.handle)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)


def _tell_on_stderr(text: str) -> None:
    """Past Python's buffers, which may be in use at this very moment."""
    try:
        os.write(2, text.encode("ascii"))
    except OSError:
        return  # the terminal is gone; there is nobody to tell
