"""Judge a record against the targets, and list its failures."""

from collections.abc import Mapping
from typing import Any

from kernel_build.card.beside import is_wrong, with_peers
from kernel_build.card.parts import PARTS, Part
from kernel_build.card.record_file import Record
from kernel_build.card.row_text import failure_of, table_row
from kernel_build.targets import TARGETS, Verdict, judge

_TOLD = ("times", "jobs")  # parts that are measured for targets; sweeps are not


def told_rows(record: Record) -> list[dict[str, Any]]:
    """Return the rows with figures for targets, including ratios to their peers."""
    parts = [part for part in PARTS if part.name.startswith(_TOLD)]
    return [row for part in parts for row in with_peers(record.of(part.name))]


def verdicts(record: Record) -> list[Verdict]:
    """Return a verdict per target; a stub leaves all of them pending."""
    measured = {} if record.device.is_stub else _measured(told_rows(record))
    return [judge(target, measured.get(target.what), record.device.name) for target in TARGETS]


def failures(record: Record) -> list[str]:
    """Return a line per failed row or part."""
    found = [failure_of(row) for row in record.rows]
    parts = [f"{name}: {part['problem']}" for name, part in record.parts.items() if part["state"] == "failed"]
    return [line for line in found if line is not None] + parts


def unfinished(record: Record, chosen: list[Part]) -> list[str]:
    """Return the parts that still have work left for another run."""
    return [part.name for part in chosen if record.parts.get(part.name, {}).get("state", "unfinished") == "unfinished"]


def _measured(rows: list[dict[str, Any]]) -> dict[str, Mapping[str, Any]]:
    """Return the measurements that count for targets: successful rows with correct results."""
    right = [row for row in rows if row["outcome"] == "ok" and is_wrong(row) is None]
    told = [(table_row(row), row["measured"]) for row in right]
    return {row.what: measured for row, measured in told if row is not None}
