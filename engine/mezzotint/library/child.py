"""A command of ours in a process of its own, that writes lines of JSON: events, and at last a result or an error."""

import json
import logging
import os
import queue
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import IO, Any, Literal

from mezzotint import errors
from mezzotint.checkpoints.plain_text import plain
from mezzotint.codec import decode_event
from mezzotint.errors import Cancelled, MezzotintError, ProtocolError
from mezzotint.protocol import IsCancelled, OnEvent

Stopping = Literal["at once", "in order"]

_LOOK_EVERY = 0.1  # seconds between looks whether the work is to stop
_PATIENCE = 20.0  # seconds that a command has to stop in order
_LAST_LINES = 20
_HIDDEN = 4  # the shortest secret that is looked for
_log = logging.getLogger("mezzotint.library")


@dataclass(frozen=True, slots=True, kw_only=True)
class ChildCommand:
    """What is to be run, and how."""

    words: Sequence[str]  # after the interpreter
    environ: Mapping[str, str]
    given: str | None = None  # a line on its stdin, which stays open while it is wanted
    stopping: Stopping = "at once"  # in order: its stdout is closed, and it ends when it next writes
    secret: str | None = None  # never to be seen in the log


def run_child(command: ChildCommand, tell: OnEvent, cancelled: IsCancelled) -> Any:  # noqa: ANN401  plain JSON
    """The result, as it stands in the JSON; the child's own error, or Cancelled."""
    process = subprocess.Popen(  # noqa: S603  our own interpreter with our own module
        [sys.executable, "-P", *command.words],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=dict(command.environ),
        **_apart(),
    )
    reader = _Reader(process, command.secret)
    try:
        _give(process, command.given)
        return _follow(reader, tell, cancelled)
    except BaseException:
        reader.stop(command.stopping)
        raise
    finally:
        reader.end()


def _apart(windows: bool = os.name == "nt") -> dict[str, Any]:
    """Out of reach of a Ctrl-C that is meant for us: we decide when it stops. Without a window of its own."""
    if not windows:
        return {"process_group": 0}
    return {
        "creationflags": getattr(subprocess, "CREATE_NO_WINDOW", 0) | getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)
    }


def _give(process: "subprocess.Popen[bytes]", line: str | None) -> None:
    stdin = process.stdin
    if stdin is None:
        return
    try:
        if line is None:
            stdin.close()
        else:
            stdin.write(line.encode("ascii") + b"\n")
            stdin.flush()
    except OSError:
        return  # it has ended: what it said tells more


def _follow(reader: "_Reader", tell: OnEvent, cancelled: IsCancelled) -> Any:  # noqa: ANN401
    while True:
        if cancelled():
            raise Cancelled("stopped; what is done is kept and resumed next time")
        line = reader.line(_LOOK_EVERY)
        if line is None:
            continue
        message = _message(line)
        if "event" in message:
            tell(decode_event(message["event"]))
        elif "error" in message:
            raise _error(message["error"])
        elif "result" in message:
            return message["result"]
        elif not line:
            raise MezzotintError(reader.why_ended())


def _message(line: bytes) -> dict[str, Any]:
    if not line:
        return {}
    try:
        message = json.loads(line)
    except ValueError:
        raise ProtocolError(f"a command of ours wrote what is no JSON: {plain(line, 80)}") from None
    return message if isinstance(message, dict) else {}


def _error(told: Mapping[str, Any]) -> MezzotintError:
    """The error that the child met, of its own class where that is known here."""
    kinds = {
        one.kind: one for one in vars(errors).values() if isinstance(one, type) and issubclass(one, MezzotintError)
    }
    found = kinds.get(str(told.get("kind")), MezzotintError)(str(told.get("message")))
    found.kind = str(told.get("kind"))
    return found


class _Reader:
    """Takes what the process writes, so that it never waits for us."""

    def __init__(self, process: "subprocess.Popen[bytes]", secret: str | None) -> None:
        self._process = process
        self._secret = secret if secret and len(secret) >= _HIDDEN else None
        self._lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._last: deque[str] = deque(maxlen=_LAST_LINES)
        self._stopped = threading.Event()
        self._threads = [
            threading.Thread(target=work, daemon=True, name="child") for work in (self._take_lines, self._take_log)
        ]
        for thread in self._threads:
            thread.start()

    def line(self, seconds: float) -> bytes | None:
        """The next line; empty at the end; None when nothing came in that time."""
        try:
            return self._lines.get(timeout=seconds)
        except queue.Empty:
            return None

    def stop(self, how: Stopping) -> None:
        """The work is not wanted any more."""
        self._stopped.set()
        if how == "at once":
            self._process.kill()

    def end(self) -> None:
        """Wait for the process to go, and make it go when it does not."""
        _close(self._process.stdin)
        try:
            self._process.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        for thread in self._threads:
            thread.join()

    def why_ended(self) -> str:
        """The process has ended without an answer."""
        code = self._process.wait()
        self._threads[1].join()
        said = f": {plain(self._last[-1], 200)}" if self._last else ""
        return f"a process of ours ended with code {code} before its work was done{said}"

    def _take_lines(self) -> None:
        stream = self._process.stdout
        for line in stream or ():
            if self._stopped.is_set():
                break  # closing our end is what tells it to stop: it fails when it writes next
            if line.strip():
                self._lines.put(line)
        _close(stream)
        self._lines.put(b"")

    def _take_log(self) -> None:
        for line in self._process.stderr or ():
            text = line.decode("utf-8", "replace").rstrip()
            text = text if self._secret is None else text.replace(self._secret, "***")
            self._last.append(text)
            _log.debug("%s", text)
        _close(self._process.stderr)


def _close(stream: IO[bytes] | None) -> None:
    if stream is not None:
        try:
            stream.close()
        except OSError:
            return  # what it held back has no reader


def own_environment(changes: Mapping[str, str | None], environ: Mapping[str, str] = os.environ) -> dict[str, str]:
    """That of this process, with some of it changed; None takes out."""
    return {name: value for name, value in {**environ, **changes}.items() if value is not None}
