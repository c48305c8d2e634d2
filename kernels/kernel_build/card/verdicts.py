"""What a record says of the targets, and what in it failed."""

from collections.abc import Mapping
from typing import Any

from kernel_build.card.beside import is_wrong, with_peers
from kernel_build.card.parts import PARTS, Part
from kernel_build.card.record_file import Record
from kernel_build.card.row_text import failure_of, table_row
from kernel_build.targets import TARGETS, Verdict, judge

_TOLD = ("times", "jobs")  # what is measured for targets: a sweep is not


def told_rows(record: Record) -> list[dict[str, Any]]:
    """The rows that have figures for targets, beside their peers."""
    parts = [part for part in PARTS if part.name.startswith(_TOLD)]
    return [row for part in parts for row in with_peers(record.of(part.name))]


def verdicts(record: Record) -> list[Verdict]:
    """On every target; a stub meets none and misses none."""
    measured = {} if record.device.is_stub else _measured(told_rows(record))
    return [judge(target, measured.get(target.what), record.device.name) for target in TARGETS]


def failures(record: Record) -> list[str]:
    """A line for everything that went wrong."""
    found = [failure_of(row) for row in record.rows]
    parts = [f"{name}: {part['problem']}" for name, part in record.parts.items() if part["state"] == "failed"]
    return [line for line in found if line is not None] + parts


def unfinished(record: Record, chosen: list[Part]) -> list[str]:
    """The parts of which something is left for another run."""
    return [part.name for part in chosen if record.parts.get(part.name, {}).get("state", "unfinished") == "unfinished"]


def _measured(rows: list[dict[str, Any]]) -> dict[str, Mapping[str, Any]]:
    """What counts for a target: ours, as it ran, and right."""
    right = [row for row in rows if row["outcome"] == "ok" and is_wrong(row) is None]
    told = [(table_row(row), row["measured"]) for row in right]
    return {row.what: measured for row, measured in told if row is not None}
