"""The first start's progress where there is no terminal."""

import io
import sys

import pytest

from mezzotint_setup.errors import Paused, SetupFailed
from mezzotint_setup.events import Stop
from mezzotint_setup.shown import ShownReporter, Zenity, start_reporter

SCREEN = {"DISPLAY": ":0"}


class Display:
    """Keeps what is shown."""

    def __init__(self, open_for=99):
        self.shown, self.open_for = [], open_for

    def show(self, text, percent):
        self.shown.append((text, percent))
        return len(self.shown) <= self.open_for

    def fail(self, text):
        self.shown.append(text)

    def close(self):
        self.shown.append("closed")


def test_phases_and_bytes_are_shown_and_closing_pauses():
    display, stop = Display(open_for=1), Stop()
    reporter = ShownReporter(lambda: display, stop)
    reporter.phase("download")
    stop.check()
    reporter.progress(25_000_000, 100_000_000)
    assert display.shown == [("Downloading ...", 0.0), ("25.0 of 100.0 MB", 25.0)]
    with pytest.raises(Paused):
        stop.check()
    reporter.paused()
    assert display.shown[-1] == "closed"


def test_a_failure_is_shown_with_its_next_step():
    display = Display()
    ShownReporter(lambda: display, Stop()).failed(SetupFailed("no_network", "no line", "try again"))
    assert display.shown == ["Failed: no line.\nWhat to do: try again."]


@pytest.mark.parametrize(("environment", "system"), [({}, "linux"), (SCREEN, "linux"), ({}, "win32")])
def test_without_a_screen_or_a_display_there_is_text(environment, system, monkeypatch):
    monkeypatch.setattr(sys, "stderr", said := io.StringIO())
    reporter = start_reporter(Stop(), environment, system, lambda: None)
    reporter.phase("build")
    assert "Building" in said.getvalue()
    assert isinstance(reporter, ShownReporter) == (environment == SCREEN or system == "win32")


def test_a_terminal_gets_text(monkeypatch):
    terminal = io.StringIO()
    terminal.isatty = lambda: True
    monkeypatch.setattr(sys, "stderr", terminal)
    assert not isinstance(start_reporter(Stop(), SCREEN, "linux"), ShownReporter)


@pytest.mark.skipif(sys.platform == "win32", reason="zenity is a program of Linux")
def test_zenity_is_told_text_and_percentage(tmp_path):
    program = tmp_path / "zenity"
    program.write_text(
        f'#!/bin/sh\n[ "$1" = --progress ] && exec cat > {tmp_path}/told\necho "$@" > {tmp_path}/failed\n'
    )
    program.chmod(0o755)
    display = Zenity(str(program))
    assert display.show("half", 50.0)
    display._process.stdin.close()
    display._process.wait()
    assert (tmp_path / "told").read_text() == "50\n# half\n"
    display.fail("what <b>")
    assert "--no-markup --text=what <b>" in (tmp_path / "failed").read_text()
