"""Client of an engine process: lines of JSON-RPC, one job at a time."""

import subprocess
import threading
from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any

from mezzotint.batch.run.outcomes import OnEventOf, Outcome, dispatch_by_request, error_of, outcomes_of
from mezzotint.checkpoints.plain_text import plain
from mezzotint.codec import decode, decode_event, encode, parse_json, to_json
from mezzotint.errors import MezzotintError, ProtocolError
from mezzotint.protocol import (
    SCHEMA_VERSION,
    GenerateManyRequest,
    GenerateManyResult,
    GenerateRequest,
    GenerateResult,
    OnEvent,
)

_PATIENCE = 20.0  # seconds that it has to end after being asked to
_LAST_LINES = 20
_MAX_LINE = 64 << 20  # bytes of an answer: previews are small, and images travel as paths


class ProcessEnded(Exception):
    """The process ended, or sent something invalid, before it answered."""


class EngineProcess:
    """One process, used by one thread."""

    def __init__(self, command: Sequence[str], environ: Mapping[str, str]) -> None:
        try:
            self._process = subprocess.Popen(  # noqa: S603  our own interpreter with our own module
                list(command),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=dict(environ),
            )
        except OSError as error:
            raise MezzotintError(f"the engine process cannot be started: {error}") from error
        self._calls = 0
        self._said: deque[str] = deque(maxlen=_LAST_LINES)
        self._listener = threading.Thread(target=self._listen, name="engine's log", daemon=True)
        self._listener.start()

    def has_ended(self) -> bool:
        """Whether the process has ended."""
        return self._process.poll() is not None

    def initialize(self) -> None:
        """Wait until it answers; it holds its lock file by then. Raises ProcessEnded."""
        self._call("initialize", {"schema_version": SCHEMA_VERSION}, lambda _: None)

    def generate(self, request: GenerateRequest, on_event: OnEvent) -> GenerateResult:
        """Generate the images. Raises the MezzotintError of the process, or ProcessEnded."""
        answer = self._call("generate", encode(request), on_event)
        try:
            return decode(GenerateResult, answer)
        except ProtocolError as error:
            raise self._ended(f"invalid answer: {error}") from error

    def generate_many(self, requests: Sequence[GenerateRequest], on_event: OnEventOf) -> list[Outcome]:
        """Return the outcome of each request. Raises the MezzotintError that ended the batch, or ProcessEnded."""
        dispatch = dispatch_by_request(on_event, len(requests))
        answer = self._call("generate_many", encode(GenerateManyRequest(requests=tuple(requests))), dispatch)
        try:
            return outcomes_of(decode(GenerateManyResult, answer), len(requests))
        except ProtocolError as error:
            raise self._ended(f"invalid answer: {error}") from error

    def _call(self, method: str, params: object, on_event: OnEvent) -> Any:  # noqa: ANN401  plain JSON
        self._calls += 1
        self._send({"jsonrpc": "2.0", "id": self._calls, "method": method, "params": params})
        while True:
            message = self._message()
            if message.get("id") == self._calls and "result" in message:
                return message["result"]
            if message.get("id") == self._calls and isinstance(message.get("error"), dict):
                raise _error(message["error"])
            if message.get("method") == "event":
                self._dispatch_event(message, on_event)

    def _dispatch_event(self, message: dict[str, Any], on_event: OnEvent) -> None:
        try:
            event = decode_event(message["params"]["event"])
        except (ProtocolError, KeyError, TypeError) as error:
            raise self._ended(f"it sent an invalid event: {error}") from error
        on_event(event)

    def _send(self, message: dict[str, object]) -> None:
        if self._process.stdin is None:
            raise self._ended("its input is closed")
        try:
            self._process.stdin.write(to_json(message).encode("ascii") + b"\n")
            self._process.stdin.flush()
        except (OSError, ValueError) as error:
            raise self._ended() from error

    def _message(self) -> dict[str, Any]:
        line = b"" if self._process.stdout is None else self._process.stdout.readline(_MAX_LINE)
        if not line.endswith(b"\n"):
            raise self._ended()
        try:
            message = parse_json(line)
        except ProtocolError as error:
            raise self._ended(f"it sent an invalid message: {plain(line, 80)}") from error
        if not isinstance(message, dict):
            raise self._ended(f"it sent an invalid message: {plain(line, 80)}")
        return message

    def _ended(self, why: str = "") -> ProcessEnded:
        """Kill the process, and return the error to raise."""
        self._process.kill()
        code = self._process.wait()
        self._listener.join(_PATIENCE)
        said = f"; last log line: {plain(self._said[-1], 200)}" if self._said else ""
        return ProcessEnded(f"{why or f'the engine exited with code {code}'}{said}")

    def _listen(self) -> None:
        for line in self._process.stderr or ():
            self._said.append(line.decode("utf-8", "replace").rstrip())

    def close(self) -> None:
        """Shut it down cleanly: the end of its input tells it to exit."""
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                try:
                    stream.close()
                except OSError:  # unwritten data has no reader any more
                    continue
        try:
            self._process.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._listener.join(_PATIENCE)
        if self._process.stderr is not None and not self._listener.is_alive():
            self._process.stderr.close()


def _error(told: Mapping[str, Any]) -> MezzotintError:
    """Recreate the error from its JSON-RPC form."""
    data = told.get("data")
    kind = str(data.get("kind")) if isinstance(data, dict) else MezzotintError.kind
    return error_of(kind, str(told.get("message")))
