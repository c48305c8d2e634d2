"""Stopped by words on stdin, wherever a window cannot send signals: a line `stop`, or the end of the input."""

import os
import threading
from collections.abc import Callable

from mezzotint.cli.interrupt import Interrupt
from mezzotint.errors import UsageError

_LONGEST = 64  # bytes of a line that are looked at

Read = Callable[[], bytes]  # waits for bytes; none: there will be no more


def stop_with_input(interrupt: Interrupt, read: Read | None = None) -> threading.Thread:
    """Take each line `stop` for a Ctrl-C, and the end of the input for one, unless that was said before."""
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
    if not interrupt.asked():
        interrupt.handle(0, None)


def _bytes(read: Read) -> bytes:
    try:
        return read()
    except OSError:  # who started this process has gone
        return b""


def _own_input() -> Read:
    """The process's stdin, for this alone; fd 0 becomes empty, since one that is read blocks others on Windows."""
    try:
        handle = os.dup(0)
    except OSError:
        raise UsageError("--stop-with-input listens to standard input, which is closed: leave it open") from None
    with open(os.devnull, "rb") as nothing:
        os.dup2(nothing.fileno(), 0)
    # Not a file object: one that another thread waits in cannot be closed when the interpreter ends.
    return lambda: os.read(handle, 4096)
