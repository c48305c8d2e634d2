"""The command line: one file per command, and nothing heavy imported before a command needs it."""

import atexit
import gc
import signal
from collections.abc import Sequence


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command, and give its exit code."""
    atexit.register(gc.freeze)  # Python would look for garbage among all that ends with the process anyway
    try:
        from mezzotint.cli.entry import run

        return run(argv)
    except KeyboardInterrupt:  # only before and after a command: while it runs, see interrupt.py
        return 130
    finally:  # before all else that happens at exit, for nothing is left that could be stopped
        atexit.register(signal.signal, signal.SIGINT, signal.SIG_IGN)
