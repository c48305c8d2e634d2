"""Results and talk are kept apart, and a full or closed stdout is told."""

import errno
import json
from typing import Any

import pytest

from mezzotint.cli.terminal import Terminal
from mezzotint.errors import MezzotintError, StorageError
from mezzotint.protocol import Notice


class Failing:
    def __init__(self, error):
        self.error = error

    def write(self, text):
        raise self.error

    def flush(self):
        raise self.error


def test_results_and_talk_go_apart(stream):
    terminal: Any = Terminal(stream(), stream())
    terminal.result("a.png")
    terminal.message("1 s")
    assert (terminal.stdout.getvalue(), terminal.stderr.getvalue()) == ("a.png\n", "1 s\n")


def test_quiet_silences_talk_but_not_errors(stream):
    terminal: Any = Terminal(stream(), stream())
    terminal.quiet = True
    terminal.message("1 s")
    terminal.error(MezzotintError("no"))
    assert terminal.stderr.getvalue() == "mezzotint: error: no\n"


def test_an_error_is_one_plain_line(stream):
    terminal: Any = Terminal(stream(), stream())
    terminal.error(MezzotintError("two\nlines \x1b[31m and \udcff"))
    assert terminal.stderr.getvalue().count("\n") == 1
    assert terminal.stderr.getvalue().isascii()


def test_json_is_one_line_of_ascii(stream):
    terminal: Any = Terminal(stream(), stream())
    terminal.json({"notice": Notice(code="a", message="\u00e9\n\udcff")})
    assert terminal.stdout.getvalue().isascii()
    assert terminal.stdout.getvalue().count("\n") == 1
    assert json.loads(terminal.stdout.getvalue())["notice"]["type"] == "Notice"


def test_a_full_disk_is_told_and_a_closed_pipe_passed_on(stream):
    full = Terminal(Failing(OSError(errno.ENOSPC, "No space left on device")), stream())
    with pytest.raises(StorageError, match="No space left"):
        full.result("a.png")
    assert full.finish() is False
    closed = Terminal(Failing(BrokenPipeError()), stream())
    with pytest.raises(BrokenPipeError):
        closed.result("a.png")
