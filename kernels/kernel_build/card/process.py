"""Run a part's processes: read their lines, limit the time per item; a crash costs only the current item."""

import contextlib
import json
import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from kernel_build.card.protocol import AGAIN, Row, told

Take: TypeAlias = Callable[[Row], None]
_GLANCE = 0.5  # polling interval in seconds
_LAST_WORDS = 12  # lines of output kept for reports


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Time limits in seconds."""

    item: float  # per item
    part: float  # for the whole part
    start: float = 180  # of a process, which imports torch


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """How a part ended."""

    state: str  # complete, failed, unfinished
    problem: str | None = None
    said: tuple[str, ...] = ()  # last lines of output


def run_part(
    words: Sequence[str | Path],
    environment: Mapping[str, str],
    folder: Path,
    limits: Limits,
    done: Collection[str],
    take: Take,
) -> Ending:
    """Run processes until every item has a row; after a crash, a new process continues with the remaining items."""
    end, seen = time.monotonic() + limits.part, set(done)
    while True:
        before = len(seen)
        with _Process(words, environment, folder, seen) as process:
            ending = process.follow(end, limits, take)
        if ending is not None:
            return ending
        if len(seen) == before:
            return process.failed("without doing anything")


class _Process:
    def __init__(
        self, words: Sequence[str | Path], environment: Mapping[str, str], folder: Path, seen: set[str]
    ) -> None:
        self._seen, self._item, self._last = seen, "", [""]
        with tempfile.TemporaryFile("w+", encoding="utf-8") as given:
            given.write(json.dumps(sorted(seen)))
            given.seek(0)
            self._process = subprocess.Popen(
                [str(word) for word in words],
                cwd=folder,
                env=dict(environment),
                stdin=given,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                errors="replace",
                start_new_session=True,
            )
        self._lines: queue.Queue[str | None] = queue.Queue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def __enter__(self) -> "_Process":
        return self

    def __exit__(self, *_: object) -> None:
        """Kill the process and everything it started."""
        with contextlib.suppress(OSError):
            os.killpg(self._process.pid, signal.SIGKILL) if hasattr(os, "killpg") else self._process.kill()
        self._process.wait()

    def follow(self, end: float, limits: Limits, take: Take) -> Ending | None:
        """Read the process's lines until it ends; return None if another process should continue."""
        began, limit = time.monotonic(), limits.start
        while True:
            try:
                line = self._next(min(end, began + limit))
            except queue.Empty:
                return self._out_of_time(end, limit, take)
            if line is None:
                return self._ended(take)
            found = told(line)
            if found is None:
                self._say(line)
                continue
            began, limit = time.monotonic(), limits.item
            self._note(found, take)

    def _next(self, end: float) -> str | None:
        """Return the next line, or None at the end, even if a child process keeps the pipe open."""
        while True:
            try:
                return self._lines.get(timeout=max(0.0, min(_GLANCE, end - time.monotonic())))
            except queue.Empty:
                if self._process.poll() is not None:
                    return None
                if time.monotonic() >= end:
                    raise

    def failed(self, when: str) -> Ending:
        """Return the Ending for a process that failed to do its job."""
        return Ending(state="failed", problem=self.why(when), said=tuple(self._last))

    def why(self, when: str) -> str:
        """Return a one-line reason why the process ended."""
        status = self._process.returncode
        how = f"signal {signal.Signals(-status).name}" if status < 0 else f"status {status}"
        return f"the process ended with {how} {when}: {self._last[-1]}".rstrip(": ")

    def _note(self, found: str | Row, take: Take) -> None:
        if isinstance(found, str):
            self._item = found
            return
        self._seen.add(found.item)
        if found.item == self._item:
            self._item = ""
        take(found)

    def _out_of_time(self, end: float, limit: float, take: Take) -> Ending | None:
        if time.monotonic() >= end:
            return Ending(state="unfinished", problem="its time was over")
        if not self._item:
            return Ending(state="failed", problem=f"nothing was told for {limit:.0f} seconds: {self._last[-1]}")
        hung = f"not over after {limit:.0f} seconds"
        self._note(Row(item=self._item, outcome="hung", problem=hung), take)
        return None

    def _ended(self, take: Take) -> Ending | None:
        status = self._process.wait()
        if self._item:
            self._note(Row(item=self._item, outcome="crashed", problem=self.why("in it")), take)
            return None
        if status == 0:
            return Ending(state="complete")
        return None if status == AGAIN else self.failed("between items")

    def _say(self, line: str) -> None:
        if line.strip():
            sys.stderr.write(line)
            self._last = [*self._last, line.strip()[:200]][-_LAST_WORDS:]

    def _read(self) -> None:
        for line in self._process.stdout or ():
            self._lines.put(line)
        self._lines.put(None)
