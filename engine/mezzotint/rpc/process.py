"""What a process of the engine does to itself: its streams, signals, priority, log and end."""

import contextlib
import logging
import os
import signal
import sys
from typing import BinaryIO

GRACE = 10.0  # seconds that work has to stop when the process ends

_NICENESS = 5  # a third of the time of a busy program beside it; at 10 it had a tenth, and starved
_BELOW_NORMAL_PRIORITY_CLASS = 0x4000  # of Windows


def claim_streams() -> tuple[BinaryIO, BinaryIO]:
    """Stdin and stdout for the protocol alone; fd 0 becomes empty, fd 1 the log, since native libraries print there."""
    sys.stdout.flush()
    reader, writer = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    # A thread that waits in a read of fd 0 can block others on Windows, and children would inherit it.
    with open(os.devnull, "rb") as nothing:
        os.dup2(nothing.fileno(), 0)
    os.dup2(2, 1)
    return reader, writer


def leave_interrupts_to_the_starter() -> None:
    """Ctrl-C in a terminal reaches this process, too; who started it decides when it ends, and puts back what runs."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def give_way(platform: str = sys.platform) -> None:
    """Come after the window at the processor: it is to answer a person at once, whatever is worked at here."""
    with contextlib.suppress(OSError):  # a comfort
        if platform == "win32":
            _use_low_priority()
        else:
            os.nice(_NICENESS)


def _use_low_priority() -> None:
    import ctypes

    kernel = ctypes.WinDLL("kernel32")  # type: ignore[attr-defined,unused-ignore]
    kernel.GetCurrentProcess.restype = ctypes.c_void_p
    kernel.SetPriorityClass(ctypes.c_void_p(kernel.GetCurrentProcess()), _BELOW_NORMAL_PRIORITY_CLASS)


def log_to_stderr() -> None:
    """The log of a process of the engine."""
    logging.basicConfig(stream=sys.stderr, level=logging.INFO, format="%(levelname)s %(name)s: %(message)s")


def end_at_once() -> None:
    """Leave work that did not stop: a plain return would wait for libraries that are still at it."""
    logging.getLogger("mezzotint.rpc").warning("work did not stop within %s s; ending without it", GRACE)
    sys.stderr.flush()
    os._exit(1)
