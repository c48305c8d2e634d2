"""Parses the output lines of a batch process into messages; its content is untrusted."""

from collections.abc import Iterable
from dataclasses import dataclass

from mezzotint.batch_protocol import (
    BatchBegun,
    BatchEnded,
    BatchError,
    BatchNotice,
    BatchProgress,
    BatchStep,
    BatchTaskRow,
)
from mezzotint.codec import decode, parse_json
from mezzotint.errors import MezzotintError
from mezzotint_app.processes.messages import TooLong

_SHOWN = 160  # characters of an unparsable line

BatchMessage = BatchBegun | BatchProgress | BatchStep | BatchTaskRow | BatchNotice | BatchEnded | BatchError
_KINDS: dict[str, type[BatchMessage]] = {
    "begun": BatchBegun,
    "progress": BatchProgress,
    "step": BatchStep,
    "settled": BatchTaskRow,
    "notice": BatchNotice,
    "ended": BatchEnded,
    "error": BatchError,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class InvalidLine:
    """A line that is not a valid message."""

    begins: str


def read_lines(lines: Iterable[bytes | TooLong]) -> list[BatchMessage | InvalidLine]:
    """Return the messages in the lines; kinds from newer versions are dropped."""
    return [message for line in lines if (message := _read(line)) is not None]


def _read(line: bytes | TooLong) -> BatchMessage | InvalidLine | None:
    if isinstance(line, TooLong):
        return _invalid(line.head)
    try:
        data = parse_json(line)
        if not isinstance(data, dict) or not isinstance(data.get("kind"), str):
            return _invalid(line)
        kind = data["kind"]
        return decode(_KINDS[kind], data.get(kind)) if kind in _KINDS else None
    except MezzotintError:
        return _invalid(line)


def _invalid(line: bytes) -> InvalidLine:
    return InvalidLine(begins=line[:_SHOWN].decode("utf-8", "backslashreplace"))
