"""Shows what the first start does where there is no terminal: by tkinter or zenity, whichever is there."""

import contextlib
import io
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from typing import Protocol

from mezzotint_setup.events import Reporter, Stop

_TITLE = "Mezzotint"


class Display(Protocol):
    """A small window with a text and a bar."""

    def show(self, text: str, percent: float) -> bool:
        """Show them; returns False once it was closed."""

    def fail(self, text: str) -> None:
        """Show what went wrong until it is closed."""

    def close(self) -> None:
        """Close it."""


class Zenity:
    """The dialogs of GNOME's zenity."""

    def __init__(self, program: str) -> None:
        self._program = program
        words = [program, "--progress", f"--title={_TITLE}", "--text=Mezzotint", "--width=440"]
        self._process = subprocess.Popen(words, stdin=subprocess.PIPE, text=True)

    def show(self, text: str, percent: float) -> bool:
        """Write the text and the percentage to it."""
        pipe = self._process.stdin
        try:
            if pipe is not None:
                pipe.write(f"{percent:.0f}\n# {text}\n")
                pipe.flush()
        except OSError:
            return False
        return self._process.poll() is None

    def fail(self, text: str) -> None:
        """Show an error, as plain text."""
        self.close()
        subprocess.run([self._program, "--error", f"--title={_TITLE}", "--no-markup", f"--text={text}"], check=False)

    def close(self) -> None:
        """End it."""
        self._process.terminate()
        with contextlib.suppress(OSError):
            self._process.communicate()


class Tk:
    """A window of Python's own toolkit."""

    def __init__(self) -> None:
        import tkinter
        from tkinter import messagebox, ttk

        self._error = messagebox.showerror
        self._window = tkinter.Tk()
        self._window.title(_TITLE)
        self._label = ttk.Label(self._window, text=_TITLE, width=60, padding=16)
        self._bar = ttk.Progressbar(self._window, length=440)
        self._label.pack()
        self._bar.pack(padx=16, pady=(0, 16))
        self._closed = False
        self._window.protocol("WM_DELETE_WINDOW", self._on_closed)

    def show(self, text: str, percent: float) -> bool:
        """Set both, and let the window handle what happened meanwhile."""
        self._label["text"], self._bar["value"] = text, percent
        self._window.update()
        return not self._closed

    def fail(self, text: str) -> None:
        """Show an error."""
        self._error(_TITLE, text)
        self.close()

    def close(self) -> None:
        """Close the window."""
        self._window.destroy()

    def _on_closed(self) -> None:
        self._closed = True


class ShownReporter(Reporter):
    """Shows events in a display, made when there is something to show; closing it pauses."""

    def __init__(self, make: Callable[[], Display | None], stop: Stop) -> None:
        super().__init__(stream=sys.stderr or io.StringIO())
        self._make, self._stop = make, stop
        self._display: Display | None = None

    def _tell(self, event: Mapping[str, object], text: str) -> None:
        super()._tell(event, text)
        kind = event["event"]
        self._display = self._display or self._make()
        if self._display is None:
            return
        if kind == "failed":
            self._display.fail(text)
        elif kind in ("done", "paused"):
            self._display.close()
        elif not self._display.show(text.strip(), _percent(event)):
            self._stop.ask()


def _percent(event: Mapping[str, object]) -> float:
    done, total = event.get("done"), event.get("total")
    return 100 * done / total if isinstance(done, int) and isinstance(total, int) and total else 0.0


def start_reporter(
    stop: Stop,
    environment: Mapping[str, str] = os.environ,
    system: str = sys.platform,
    make: Callable[[], Display | None] | None = None,
) -> Reporter:
    """A window where the program was started by its icon, otherwise text on stderr."""
    stream = sys.stderr or io.StringIO()
    has_screen = system != "linux" or environment.get("DISPLAY") or environment.get("WAYLAND_DISPLAY")
    return Reporter(stream=stream) if stream.isatty() or not has_screen else ShownReporter(make or _display, stop)


def _display(tk: Callable[[], Display] = Tk, which: Callable[[str], str | None] = shutil.which) -> Display | None:
    try:
        return tk()
    except Exception:  # noqa: BLE001  there is no tkinter, or it finds no screen
        zenity = which("zenity")
        return Zenity(zenity) if zenity else None
