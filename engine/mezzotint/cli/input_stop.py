"""Stop via stdin, for parents that cannot send signals: on a line `stop`, or at the end of the input."""

import os
import threading
from collections.abc import Callable

from mezzotint.cli.interrupt import Interrupt
from mezzotint.errors import UsageError

_LONGEST = 64  # bytes of an incomplete line that are kept

Read = Callable[[], bytes]  # blocks until there are bytes; returns b"" at the end of the input


def stop_with_input(interrupt: Interrupt, read: Read | None = None) -> threading.Thread:
    """Treat each line `stop` like Ctrl-C, and the end of the input too unless a stop was already requested."""
    reader = read or _own_input()
    thread = threading.Thread(target=_listen, args=(interrupt, reader), name="stop with input", daemon=True)
    thread.start()
    return thread


def _listen(interrupt: Interrupt, read: Read) -> None:
    begun = b""
    while data := _bytes(read):
        *lines, begun = (begun + data).split(b"\n")
        begun = begun[-_LONGEST:]
        for line in lines:
            if line.strip() == b"stop":
                interrupt.handle(0, None)
    if not interrupt.stop_requested():
        interrupt.handle(0, None)


def _bytes(read: Read) -> bytes:
    try:
        return read()
    except OSError:  # the parent process has exited
        return b""


def _own_input() -> Read:
    """Take over stdin and redirect fd 0 to the null device: a pending read would block other users on Windows."""
    try:
        handle = os.dup(0)
    except OSError:
        raise UsageError("--stop-with-input listens to standard input, which is closed: leave it open") from None
    with open(os.devnull, "rb") as nothing:
        os.dup2(nothing.fileno(), 0)
    # Not a file object: it cannot be closed at interpreter exit while another thread is blocked reading it.
    return lambda: os.read(handle, 4096)
