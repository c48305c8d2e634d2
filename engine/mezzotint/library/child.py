"""Run a Mezzotint command in a child process that writes JSON lines: events, then a result or an error."""

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

_LOOK_EVERY = 0.1  # seconds between cancellation checks
_PATIENCE = 20.0  # seconds that a command has to stop gracefully
_LAST_LINES = 20
_HIDDEN = 4  # minimum length of a secret that is redacted
_log = logging.getLogger("mezzotint.library")


@dataclass(frozen=True, slots=True, kw_only=True)
class ChildCommand:
    """The command line, environment and stop behaviour of a child process."""

    words: Sequence[str]  # arguments after the interpreter
    environ: Mapping[str, str]
    given: str | None = None  # a line for its stdin, which then stays open until the process is to end
    stopping: Stopping = "at once"  # in order: its stdout is closed, so that it ends at its next write
    secret: str | None = None  # redacted in the log


def run_child(command: ChildCommand, tell: OnEvent, cancelled: IsCancelled) -> Any:  # noqa: ANN401  plain JSON
    """Run the command and return its result as plain JSON. Raises the child's own error, or Cancelled."""
    process = subprocess.Popen(  # noqa: S603  our own interpreter with our own module
        [sys.executable, "-P", *command.words],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=dict(command.environ),
        **_isolation_options(),
    )
    reader = _Reader(process, command.secret)
    try:
        _write_request(process, command.given)
        return _read_messages(reader, tell, cancelled)
    except BaseException:
        reader.stop(command.stopping)
        raise
    finally:
        reader.end()


def _isolation_options(windows: bool = os.name == "nt") -> dict[str, Any]:
    """Popen options that shield the child from our Ctrl-C, since we decide when it stops, and hide its console."""
    if not windows:
        return {"process_group": 0}
    return {
        "creationflags": getattr(subprocess, "CREATE_NO_WINDOW", 0) | getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)
    }


def _write_request(process: "subprocess.Popen[bytes]", line: str | None) -> None:
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
        return  # it has exited; its output says why


def _read_messages(reader: "_Reader", tell: OnEvent, cancelled: IsCancelled) -> Any:  # noqa: ANN401
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
        raise ProtocolError(f"a child process wrote invalid JSON: {plain(line, 80)}") from None
    return message if isinstance(message, dict) else {}


def _error(data: Mapping[str, Any]) -> MezzotintError:
    """Rebuild the child's error, of the matching class if known."""
    kinds = {
        one.kind: one for one in vars(errors).values() if isinstance(one, type) and issubclass(one, MezzotintError)
    }
    found = kinds.get(str(data.get("kind")), MezzotintError)(str(data.get("message")))
    found.kind = str(data.get("kind"))
    return found


class _Reader:
    """Reads the process's stdout and stderr in threads, so that it never blocks on a full pipe."""

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
        """Return the next line, b"" at the end of the output, or None after `seconds` without one."""
        try:
            return self._lines.get(timeout=seconds)
        except queue.Empty:
            return None

    def stop(self, how: Stopping) -> None:
        """Stop the process: kill it at once, or let it end at its next write."""
        self._stopped.set()
        if how == "at once":
            self._process.kill()

    def end(self) -> None:
        """Wait for the process to exit; kill it if it does not within _PATIENCE."""
        _close(self._process.stdin)
        try:
            self._process.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        for thread in self._threads:
            thread.join()

    def why_ended(self) -> str:
        """Return an error message for a process that exited without a result."""
        code = self._process.wait()
        self._threads[1].join()
        last_line = f": {plain(self._last[-1], 200)}" if self._last else ""
        return f"a child process ended with code {code} before it was done{last_line}"

    def _take_lines(self) -> None:
        stream = self._process.stdout
        for line in stream or ():
            if self._stopped.is_set():
                break  # closing our end makes its next write fail, which stops it
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
            return  # unflushed data has no reader


def own_environment(changes: Mapping[str, str | None], environ: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Return this process's environment with `changes` applied; None removes a variable."""
    return {name: value for name, value in {**environ, **changes}.items() if value is not None}
