"""Process setup of both engine processes: streams, signals, priority, logging and exit."""

import contextlib
import logging
import os
import signal
import sys
from typing import BinaryIO

GRACE = 10.0  # seconds that running work has to stop at exit

_NICENESS = 5  # leaves a third of the CPU next to a busy program; at 10 it got a tenth, and starved
_BELOW_NORMAL_PRIORITY_CLASS = 0x4000  # Windows constant


def claim_streams() -> tuple[BinaryIO, BinaryIO]:
    """Reserve stdin and stdout for the protocol: fd 0 becomes empty, fd 1 the log, as native libraries print there."""
    sys.stdout.flush()
    reader, writer = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    # On Windows a thread blocked in a read of fd 0 can block others, and children would inherit it.
    with open(os.devnull, "rb") as nothing:
        os.dup2(nothing.fileno(), 0)
    os.dup2(2, 1)
    return reader, writer


def ignore_interrupts() -> None:
    """Ignore Ctrl-C, which reaches this process too: the parent decides when to stop, and requeues running work."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def lower_priority(platform: str = sys.platform) -> None:
    """Lower the priority below the window's, which must stay responsive."""
    with contextlib.suppress(OSError):  # optional
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
    """Log to stderr."""
    logging.basicConfig(stream=sys.stderr, level=logging.INFO, format="%(levelname)s %(name)s: %(message)s")


def exit_now() -> None:
    """Exit without waiting for work that did not stop: a normal return would wait for busy libraries."""
    logging.getLogger("mezzotint.rpc").warning("work did not stop within %s s; ending without it", GRACE)
    sys.stderr.flush()
    os._exit(1)
