"""Short form of records for windows and programs; the records may come from any program."""

from pathlib import PurePosixPath
from typing import TypeVar

from mezzotint.batch.manifest.record import Record
from mezzotint.batch_protocol import BatchTaskRow

_LONGEST_NAME = 4096  # characters

Text = TypeVar("Text", str, str | None)


def row_of(record: Record) -> BatchTaskRow:
    """Convert a record to a row."""
    return BatchTaskRow(
        status=record.status,
        input=_plain(record.input),
        output=_plain(record.output) if is_inside(record.output) else "",
        seed=record.seed,
        kind=_plain(record.kind),
        error=_plain(record.error),
        seconds=record.seconds,
        attempts=record.attempts,
    )


def is_inside(output: str) -> bool:
    """Whether the name of an image stays inside its output folder."""
    path = PurePosixPath(output)
    is_plain = "\\" not in output and ":" not in output.partition("/")[0] and "\0" not in output
    return is_plain and not path.is_absolute() and ".." not in path.parts and len(output) <= _LONGEST_NAME


def _plain(text: Text) -> Text:
    """Replace lone surrogates, which other programs cannot read, and limit the length."""
    return text if text is None else text[:_LONGEST_NAME].encode("utf-8", "replace").decode("utf-8")
