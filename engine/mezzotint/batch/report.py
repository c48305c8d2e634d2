"""What became of every task, as a table for people and other programs."""

import csv
from collections.abc import Iterator
from typing import TextIO

from mezzotint.batch.ledger import Ledger
from mezzotint.batch.record import Record

COLUMNS = (
    "status", "input", "output", "seed", "kind", "error", "seconds", "attempts", "time", "pixels_sha256", "input_hash",
    "settings_hash", "key", "device", "model",
)  # fmt: skip


def rows_of(ledger: Ledger) -> Iterator[tuple[str, ...]]:
    """A row for each task, those that failed first, then by their name."""
    records = sorted(ledger.records().values(), key=_order)
    return (tuple(_cell(record, column) for column in COLUMNS) for record in records)


def write_csv(ledger: Ledger, stream: TextIO) -> None:
    """The rows, below the names of their columns; line ends are those of the standard, whatever the system's are."""
    writer = csv.writer(stream)
    writer.writerow(COLUMNS)
    writer.writerows(rows_of(ledger))


def _order(record: Record) -> tuple[int, str, str]:
    ranks = {"failed": 0, "set_aside": 1, "skipped": 2, "done": 3}
    return ranks[record.status], record.input or record.output, record.key


def _cell(record: Record, column: str) -> str:
    value = record.engine.get(column) if column in ("device", "model") else getattr(record, column)
    return "" if value is None else str(value)
