"""Ctrl-C handling: the first stops after the current step; a second, or one before there is work to lose, at once."""

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

INTERRUPTED = 130  # 128 + SIGINT
_SHOW_CURSOR = "\x1b[?25h"  # a progress bar hides it


class Interrupt:
    """SIGINT handler that first requests a graceful stop, then exits the process."""

    def __init__(self, tell: Callable[[str], None] | None = None, end: Callable[[int], object] = os._exit) -> None:
        self._tell = _write_to_stderr if tell is None else tell
        self._end = end
        self._graceful = False
        self._stop_requested = False
        self.unit_of_work = "this step"  # the unit of work that is still completed, for the message
        self.before_exit: Callable[[], None] = lambda: None  # called right before an immediate exit
        self.exit_code = INTERRUPTED  # 128 + number of the signal that requested the stop

    def stop_requested(self) -> bool:
        """Whether a stop was requested."""
        return self._stop_requested

    def request_stop(self) -> None:
        """Request a graceful stop if the work supports it; further calls have no effect."""
        if self._graceful and not self._stop_requested:
            self.handle(0, None)

    def enable_graceful_stop(self) -> None:
        """Make the next Ctrl-C request a graceful stop; call once work has begun that supports it."""
        self._graceful = True

    def handle(self, number: int, _frame: object) -> None:
        """Handle Ctrl-C or another stop signal."""
        if self._graceful and not self._stop_requested:
            self._stop_requested = True
            self.exit_code = 128 + number if number else INTERRUPTED
            self._tell(f"\nstopping after {self.unit_of_work}; press Ctrl-C again to stop now\n")
            return
        self._tell(f"{_SHOW_CURSOR if os.isatty(2) else ''}\nmezzotint: interrupted\n")
        self.before_exit()
        # No exception: it would surface inside whatever is being imported or computed, as a traceback or not at all.
        self._end(128 + number if number else INTERRUPTED)

    @contextmanager
    def installed(self) -> Iterator[None]:
        """Install this as the SIGINT handler inside the context; does nothing outside the main thread."""
        if threading.current_thread() is not threading.main_thread():
            yield  # only the main thread may install signal handlers
            return
        before = signal.signal(signal.SIGINT, self.handle)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)


def _write_to_stderr(text: str) -> None:
    """Write directly to fd 2: the signal may have interrupted code that is using Python's buffers."""
    try:
        os.write(2, text.encode("ascii"))
    except OSError:
        return  # the terminal is gone
