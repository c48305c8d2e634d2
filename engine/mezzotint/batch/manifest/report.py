"""The outcome of every task, as a table for people and other programs."""

import csv
import io
from collections.abc import Iterator

from mezzotint.batch.manifest.ledger import Ledger
from mezzotint.batch.manifest.record import FAILURES, Record
from mezzotint.checkpoints.plain_text import plain

COLUMNS = (
    "status", "input", "output", "seed", "kind", "error", "seconds", "attempts", "time", "pixels_sha256", "input_hash",
    "settings_hash", "key", "device", "model",
)  # fmt: skip


def rows_of(ledger: Ledger, only_failed: bool = False) -> Iterator[tuple[str, ...]]:
    """Return a row for each task, failures first, then by name."""
    records = sorted(ledger.records().values(), key=_order)
    records = [record for record in records if not only_failed or record.status in FAILURES]
    return (tuple(_cell(record, column) for column in COLUMNS) for record in records)


def csv_of(ledger: Ledger, only_failed: bool = False) -> Iterator[str]:
    """Yield the rows as lines of CSV, after a header."""
    yield _csv_line(COLUMNS)
    for row in rows_of(ledger, only_failed):
        yield _csv_line(row)


def table_of(ledger: Ledger, only_failed: bool = False) -> Iterator[str]:
    """Yield the rows as text for people: status, names and error."""
    for row in rows_of(ledger, only_failed):
        status, name, output, _, kind, error = row[:6]
        why = f": {kind}: {error}" if error else ""
        yield plain(
            f"{status.replace('_', ' '):<10} {name or output}{f' -> {output}' if name and output else ''}{why}", 800
        )


def _csv_line(cells: tuple[str, ...]) -> str:
    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow(cells)
    return line.getvalue()


def _order(record: Record) -> tuple[int, str, str]:
    ranks = {"failed": 0, "set_aside": 1, "skipped": 2, "done": 3}
    return ranks[record.status], record.input or record.output, record.key


def _cell(record: Record, column: str) -> str:
    value = record.engine.get(column) if column in ("device", "model") else getattr(record, column)
    return "" if value is None else str(value)
