"""The command line: one module per command; heavy imports are deferred until a command needs them."""

import atexit
import gc
import signal
from collections.abc import Sequence


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    atexit.register(gc.freeze)  # skip the garbage collection at exit: the process ends anyway
    try:
        from mezzotint.cli.entry import run

        return run(argv)
    except KeyboardInterrupt:  # only before or after a command; see interrupt.py for Ctrl-C while it runs
        return 130
    finally:  # runs first at exit (atexit is LIFO): nothing is left to interrupt
        atexit.register(signal.signal, signal.SIGINT, signal.SIG_IGN)
