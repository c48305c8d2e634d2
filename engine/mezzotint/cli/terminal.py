"""Terminal output: results on stdout, messages on stderr."""

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

from mezzotint.checkpoints.plain_text import plain
from mezzotint.codec import encode
from mezzotint.errors import Cancelled, MezzotintError, StorageError


class Terminal:
    """The two streams of a command."""

    def __init__(self, stdout: TextIO, stderr: TextIO) -> None:
        self.stdout = stdout
        self.stderr = stderr
        self.quiet = False

    def result(self, text: str) -> None:
        """Print a line of the command's result on stdout. Raises StorageError if stdout cannot be written."""
        with storage_errors():
            self.stdout.write(f"{text}\n")
            self.stdout.flush()

    def json(self, value: object) -> None:
        """Print a value as one line of JSON on stdout."""
        self.result(json.dumps(encode(value), allow_nan=False))

    def message(self, text: str) -> None:
        """Print an informational line on stderr, unless `quiet`."""
        if not self.quiet:
            self.failure(text)

    def failure(self, text: str) -> None:
        """Print a line on stderr about a part that failed while the rest goes on, also if `quiet`."""
        self.stderr.write(f"{text}\n")
        self.stderr.flush()

    def notice(self, text: str) -> None:
        """Print what the user should know of, unless `quiet`."""
        self.message(f"notice: {text}")

    def error(self, error: MezzotintError) -> None:
        """Print why the command failed or was stopped, in one line on stderr."""
        kind = "" if isinstance(error, Cancelled) else "error: "
        self.stderr.write(f"mezzotint: {kind}{plain(error, 2000)}\n")
        self.stderr.flush()

    def finish(self) -> bool:
        """Flush stdout; return False if that fails (disk full, pipe closed)."""
        try:
            self.stdout.flush()
        except OSError:
            self.silence_stdout()
            return False
        return True

    def silence_stdout(self) -> None:
        """Redirect stdout to the null device, so that the interpreter's flush at exit does not fail again."""
        if self.stdout is sys.stdout:
            with open(os.devnull, "wb") as nothing:
                os.dup2(nothing.fileno(), self.stdout.fileno())


@contextmanager
def storage_errors() -> Iterator[None]:
    """Context manager: turn a failure to write standard output into StorageError."""
    try:
        yield
    except BrokenPipeError:
        raise  # the reader closed the pipe
    except OSError as error:
        raise StorageError(f"standard output cannot be written: {error.strerror or error}") from error


def standard_terminal() -> Terminal:
    """Return the process's own streams, configured so that any character can be encoded."""
    stdout, stderr = sys.stdout or _nowhere(), sys.stderr or _nowhere()  # None if the parent process closed them
    _tolerate(stdout, "backslashreplace" if os.name == "nt" else "surrogateescape")
    _tolerate(stderr, "backslashreplace")
    return Terminal(stdout, stderr)


def _nowhere() -> TextIO:
    return open(os.devnull, "w", encoding="utf-8")


def _tolerate(stream: TextIO, errors: str) -> None:
    reconfigure = getattr(stream, "reconfigure", None)  # absent if a test substituted a plain buffer
    if reconfigure is not None:
        reconfigure(errors=errors)
