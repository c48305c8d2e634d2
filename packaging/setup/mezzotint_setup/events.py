"""Progress as JSON lines or text, and the request to pause."""

import json
import signal
import sys
import threading
import time
from collections.abc import Callable, Mapping
from typing import TextIO

from mezzotint_setup.errors import Paused, SetupFailed

_EVERY, _EVERY_LINE = 0.2, 2.0  # seconds between two reports of progress, for programs and for people
_PHASES = {
    "download": "Downloading",
    "build": "Building beside the version in use",
    "prove": "Trying the new version",
    "switch": "Switching to it",
}


class Reporter:
    """Tells what happens: one JSON object per line, or text for people."""

    def __init__(
        self, *, jsonl: bool = False, stream: TextIO | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._jsonl, self._stream, self._clock = jsonl, stream or sys.stdout, clock
        self._begun: tuple[float, int] | None = None
        self._last, self._told = 0.0, (-1, -1)

    def phase(self, name: str) -> None:
        """Say that a phase begins."""
        self._begun, self._told = None, (-1, -1)
        self._tell({"event": "phase", "name": name}, f"{_PHASES.get(name, name)} ...")

    def progress(self, done: int, total: int) -> None:
        """Say how many bytes are there; bytes that were there before do not count for the time left."""
        if (done, total) == self._told:
            return
        now = self._clock()
        if self._begun is None:
            self._begun = now, done
        elif done < total and now - self._last < (_EVERY if self._jsonl else _EVERY_LINE):
            return
        self._last, self._told = now, (done, total)
        since, first = self._begun
        rate = (done - first) / (now - since) if now > since else 0.0
        left = round((total - done) / rate) if rate > 0 else None
        text = f"  {done / 1e6:,.1f} of {total / 1e6:,.1f} MB" + (f", {left} s left" if left is not None else "")
        self._tell({"event": "progress", "done": done, "total": total, "seconds_left": left}, text)

    def done(self, version: str, notes: tuple[str, ...] = ()) -> None:
        """Say that a version is in use now, and what was noticed."""
        lines = [f"{version} is ready", *(f"note: {note}" for note in notes)]
        self._tell({"event": "done", "version": version, "notes": list(notes)}, "\n".join(lines))

    def failed(self, failure: SetupFailed) -> None:
        """Say what went wrong."""
        event = {"event": "failed", "what": failure.what, "next": failure.next_step, "code": failure.code}
        self._tell(event, f"Failed: {failure.what}.\nWhat to do: {failure.next_step}.")

    def paused(self) -> None:
        """Say that it was paused."""
        self._tell({"event": "paused"}, "Paused: the same command goes on from here.")

    def result(self, value: dict[str, object]) -> None:
        """Give an answer as JSON: on one line with `--jsonl`, readable otherwise."""
        self._tell(value, json.dumps(value, indent=2))

    def _tell(self, event: Mapping[str, object], text: str) -> None:
        self._stream.write((json.dumps(event) if self._jsonl else text) + "\n")
        self._stream.flush()


class Stop:
    """Whether to pause: asked for by a line on stdin, Ctrl-C or SIGTERM."""

    def __init__(self) -> None:
        self._asked = threading.Event()

    def ask(self, *_: object) -> None:
        """Pause as soon as it can be done cleanly."""
        self._asked.set()

    def check(self) -> None:
        """Raise Paused if it was asked for."""
        if self._asked.is_set():
            raise Paused

    def wait(self, seconds: float) -> None:
        """Wait, unless it is asked to pause."""
        self._asked.wait(seconds)
        self.check()

    def listen(self, lines: TextIO) -> None:
        """Read lines in the background; `pause` and `stop` ask. The end of the input does not."""

        def read() -> None:
            for line in lines:
                if line.strip() in ("pause", "stop"):
                    self.ask()

        threading.Thread(target=read, daemon=True).start()

    def on_signals(self) -> None:
        """Ask at Ctrl-C and SIGTERM instead of ending in the middle."""
        signal.signal(signal.SIGINT, self.ask)
        signal.signal(signal.SIGTERM, self.ask)
