"""Results on stdout, talk on stderr."""

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
        """A line that the command was run for."""
        with _told_when_full():
            self.stdout.write(f"{text}\n")
            self.stdout.flush()

    def json(self, value: object) -> None:
        """A value as one line of JSON, for programs."""
        self.result(json.dumps(encode(value), allow_nan=False))

    def talk(self, text: str) -> None:
        """A line beside the results; `quiet` leaves it out."""
        if not self.quiet:
            self.stderr.write(f"{text}\n")
            self.stderr.flush()

    def error(self, error: MezzotintError) -> None:
        """Why the command failed, or was stopped, in one line."""
        kind = "" if isinstance(error, Cancelled) else "error: "
        self.stderr.write(f"mezzotint: {kind}{plain(error, 2000)}\n")
        self.stderr.flush()

    def finish(self) -> bool:
        """Write out what is left; False when it finds no room or no reader."""
        try:
            self.stdout.flush()
        except OSError:
            self.give_up()
            return False
        return True

    def give_up(self) -> None:
        """Nothing can be written any more: keep the interpreter from trying once again when it ends."""
        if self.stdout is sys.stdout:
            with open(os.devnull, "wb") as nothing:
                os.dup2(nothing.fileno(), self.stdout.fileno())


@contextmanager
def _told_when_full() -> Iterator[None]:
    try:
        yield
    except BrokenPipeError:
        raise  # the reader has seen enough
    except OSError as error:
        raise StorageError(f"standard output cannot be written: {error.strerror or error}") from error


def standard_terminal() -> Terminal:
    """The process's own streams, made to take every character."""
    stdout, stderr = sys.stdout or _nowhere(), sys.stderr or _nowhere()  # closed by whoever started the process
    _tolerate(stdout, "backslashreplace" if os.name == "nt" else "surrogateescape")
    _tolerate(stderr, "backslashreplace")
    return Terminal(stdout, stderr)


def _nowhere() -> TextIO:
    return open(os.devnull, "w", encoding="utf-8")


def _tolerate(stream: TextIO, errors: str) -> None:
    reconfigure = getattr(stream, "reconfigure", None)  # absent where a test has put a plain buffer
    if reconfigure is not None:
        reconfigure(errors=errors)
