"""Parse the output of an engine process: bytes to lines, lines to messages. None of it is trusted."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, cast

from mezzotint.codec import decode, decode_job_event, encode, parse_json, to_json
from mezzotint.errors import MezzotintError, UsageError
from mezzotint.queue_protocol import JobEvent as AnyJobEvent
from mezzotint_app.processes.service import Failure

MAX_LINE = 8 << 20  # bytes
_HEAD = 200  # bytes of an unreadable line that are searched for the call it answers
_SHOWN = 120  # characters of it that are shown
_ANSWER = re.compile(rb'\s*\{\s*"jsonrpc"\s*:\s*"2\.0"\s*,\s*"id"\s*:\s*(\d{1,15})\s*,')


@dataclass(frozen=True, slots=True, kw_only=True)
class TooLong:
    """A line that was skipped because of its length."""

    head: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A call's result, decoded to the requested type."""

    call: int
    value: object


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorResponse:
    """A call's error, as reported by the process."""

    call: int
    failure: Failure


@dataclass(frozen=True, slots=True, kw_only=True)
class JobEvent:
    """A progress event of a job."""

    call: int
    event: AnyJobEvent


@dataclass(frozen=True, slots=True, kw_only=True)
class InvalidMessage:
    """A line that is not a valid message; `call` is the call that it seems to answer, which then fails."""

    call: int | None
    problem: str


Message = Answer | ErrorResponse | JobEvent | InvalidMessage


class LineBuffer:
    """Splits a byte stream into lines; lines that are too long are skipped without being stored."""

    def __init__(self, most: int = MAX_LINE) -> None:
        self._most = most
        self._begun = bytearray()
        self.skipped_bytes = 0  # bytes of the line that is being skipped

    def feed(self, data: bytes) -> list[bytes | TooLong]:
        """The lines completed by `data`, without their line ends; blank lines are omitted."""
        lines: list[bytes | TooLong] = []
        begin = 0
        while (end := data.find(b"\n", begin)) >= 0:
            self._take(data, begin, end)
            lines.extend(self._whole())
            begin = end + 1
        self._take(data, begin, len(data))
        return lines

    def _take(self, data: bytes, begin: int, end: int) -> None:
        size = end - begin
        if self.skipped_bytes or len(self._begun) + size > self._most:
            self._begun += data[begin : begin + max(0, _HEAD - len(self._begun))]
            self.skipped_bytes += size if self.skipped_bytes else len(self._begun) + size
            del self._begun[_HEAD:]
        else:
            self._begun += data[begin:end]

    def _whole(self) -> Iterable[bytes | TooLong]:
        line, passed = bytes(self._begun), self.skipped_bytes
        self._begun.clear()
        self.skipped_bytes = 0
        if passed:
            return (TooLong(head=line),)
        return (line,) if line.strip() else ()


def call_line(call: int, method: str, params: object) -> bytes:
    """A call, serialized for the process. Raises a MezzotintError if it cannot be serialized or is too long."""
    message: dict[str, object] = {"jsonrpc": "2.0", "id": call, "method": method}
    if params is not None:
        message["params"] = encode(params)
    line = to_json(message).encode("ascii") + b"\n"
    if len(line) > MAX_LINE:
        raise UsageError(
            f"the request is too long: {len(line) >> 20} MB; at most {MAX_LINE >> 20} MB are allowed. Shorten it"
        )
    return line


def read_messages(lines: Iterable[bytes | TooLong], answers: Mapping[int, object]) -> list[Message]:
    """Parse lines into messages; `answers` maps open calls to the types that their results are decoded to."""
    return [_read(line, answers) for line in lines]


def _read(line: bytes | TooLong, answers: Mapping[int, object]) -> Message:
    if isinstance(line, TooLong):
        return _invalid(line.head, f"a line is longer than {MAX_LINE >> 20} MB", answers)
    try:
        return _message(parse_json(line), answers)
    except MezzotintError as error:
        return _invalid(line, str(error).rstrip("."), answers)


def _message(data: object, answers: Mapping[int, object]) -> Message:
    if not isinstance(data, dict):
        return InvalidMessage(call=None, problem="a line contains no message")
    if data.get("method") == "event":
        return _event(data.get("params"), answers)
    call = _open_call(data.get("id"), answers)
    if call is None:
        return InvalidMessage(call=None, problem=f"a response to an unknown request: {str(data.get('id'))[:20]}")
    if "error" in data:
        return ErrorResponse(call=call, failure=_failure(data["error"]))
    if "result" not in data:
        return InvalidMessage(call=call, problem="a response without a result")
    return Answer(call=call, value=_value(answers[call], data["result"]))


def _event(params: object, answers: Mapping[int, object]) -> Message:
    if not isinstance(params, dict):
        return InvalidMessage(call=None, problem="an event without params")
    call = _open_call(params.get("job"), answers)
    if call is None:
        return InvalidMessage(call=None, problem="an event for an unknown job")
    return JobEvent(call=call, event=decode_job_event(params.get("event")))


def _value(wanted: object, data: object) -> object:
    return data if wanted is None else decode(cast(Any, wanted), data)


def _failure(error: object) -> Failure:
    fields = error if isinstance(error, dict) else {}
    data = fields.get("data")
    details = data if isinstance(data, dict) else {}
    kind, message = details.get("kind"), details.get("message", fields.get("message"))
    return Failure(
        kind=kind if isinstance(kind, str) else "failed",
        message=message if isinstance(message, str) and message else "no reason was given",
    )


def _invalid(line: bytes, problem: str, answers: Mapping[int, object]) -> InvalidMessage:
    """A malformed answer still ends its call; a malformed event does not end its job."""
    head = line[:_HEAD]
    found = _ANSWER.match(head)
    call = int(found[1]) if found else None
    begins = head[:_SHOWN].decode("utf-8", "backslashreplace")
    return InvalidMessage(call=call if call in answers else None, problem=f"{problem}: {begins}")


def _open_call(call: object, answers: Mapping[int, object]) -> int | None:
    return call if isinstance(call, int) and not isinstance(call, bool) and call in answers else None
