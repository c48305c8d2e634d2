"""The outcome of one task, and its line format in the manifest."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, Literal, get_args

from mezzotint.checkpoints.regular_file import open_regular
from mezzotint.codec import to_json
from mezzotint.errors import ModelRefused, StorageError

SCHEMA_VERSION = 1

Status = Literal["done", "failed", "skipped", "set_aside"]
STATUSES: tuple[str, ...] = get_args(Status)
FAILURES = ("failed", "set_aside")
_LONGEST_LINE = 1 << 20  # bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """The outcome of one task. Paths are relative to the input and output folders, with / as separator."""

    key: str  # sha256 of the task; of a file that is no task, of its name
    status: Status
    output: str  # where the image is, or was to go; empty: the file was no task
    input: str | None = None
    input_hash: str | None = None
    settings_hash: str = ""
    seed: int | None = None
    kind: str | None = None  # of the error, or of the reason for skipping
    error: str | None = None
    seconds: float | None = None
    attempts: int = 0
    pixels_sha256: str | None = None
    engine: dict[str, str] = field(default_factory=dict)  # device, model, versions
    time: str = ""  # UTC, when the record was written

    @property
    def is_unreadable_input(self) -> bool:
        """Whether it is about an unreadable input; each run checks it and records it again."""
        return self.status == "failed" and not self.output


def line_of(record: Record) -> bytes:
    """Return the record as a line of the manifest."""
    return to_json(record).encode("ascii") + b"\n"


def is_record(line: dict[str, Any]) -> bool:
    """Whether a line is the record of a task, and not a mark or a note on the run."""
    return isinstance(line.get("key"), str) and line.get("status") in STATUSES and isinstance(line.get("output"), str)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadLine:
    """One line of a manifest; `value` is None if it is damaged."""

    value: dict[str, Any] | None
    end: int  # offset in the file of the end of the line


def read_lines(path: Path, start: int = 0) -> Iterator[ReadLine]:
    """Yield every complete line from offset `start`; skips a last one torn by a crash or still being written.

    Raises OSError if it cannot be read, StorageError if it is not a regular file.
    """
    try:
        file = open_regular(path)
    except ModelRefused as error:
        raise StorageError(str(error)) from None
    with file:
        file.seek(start)
        yield from _lines(file, start)


def _lines(file: BinaryIO, end: int) -> Iterator[ReadLine]:
    while line := file.readline(_LONGEST_LINE):
        length, is_whole = len(line), line.endswith(b"\n")
        while not is_whole and (rest := file.readline(_LONGEST_LINE)):  # not one of ours: skip it without keeping it
            length, line, is_whole = length + len(rest), b"-", rest.endswith(b"\n")
        if not is_whole:
            return
        end += length
        if line.strip():
            yield ReadLine(value=_value(line), end=end)


def _value(line: bytes) -> dict[str, Any] | None:
    """Parse without validation, since a resumed run reads every line; values are checked where they are used."""
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
