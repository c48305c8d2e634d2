"""Format a result row as text."""

from collections.abc import Mapping
from typing import Any

from kernel_build import attention_rows, decoding_rows, linear_rows, memory_rows, stream_rows
from kernel_build.card.beside import is_wrong
from kernel_build.card.measured import OURS
from kernel_build.results import Place, Row

_ROWS = {
    "times-attention": attention_rows.row_of,
    "times-backward": attention_rows.row_of,
    "times-kernelized": attention_rows.row_of,
    "times-decoding": decoding_rows.row_of,
    "sweep-attention": attention_rows.row_of,
    "times-linear": linear_rows.row_of,
    "times-fused": linear_rows.row_of,
    "sweep-linear": linear_rows.row_of,
    "jobs-streaming": stream_rows.row_of,
    "jobs-memory": memory_rows.row_of,
}
NOWHERE = Place(gpu="", commit="", date="", command="")


def table_row(row: Mapping[str, Any], place: Place = NOWHERE) -> Row | None:
    """Return the row for the results table, or None if it has none, such as a test."""
    make = _ROWS.get(row["part"])
    return make(row["measured"], place) if make is not None and row["measured"] else None


def text_of(row: Mapping[str, Any]) -> str:
    """Return one line: the item, its outcome and its figures."""
    told = table_row(row)
    words = [row["item"] if told is None else f"{told.what}: {told.figure}"]
    if row["outcome"] != "ok":
        words.append(f"{row['outcome'].upper()} ({row['problem']})" if row["problem"] else row["outcome"].upper())
    wrong = is_wrong(row)
    return ": ".join([*words, *([f"WRONG ({wrong})"] if wrong else [])])


def _is_peer(row: Mapping[str, Any]) -> bool:
    """Whether the row is about an implementation that is not ours."""
    return row["part"].startswith("times-") and OURS not in row["item"]


def failure_of(row: Mapping[str, Any]) -> str | None:
    """Return why a row counts as a failure, or None if it does not."""
    if row["outcome"] == "failed" or (row["outcome"] in ("crashed", "hung") and not _is_peer(row)):
        return f"{row['item']}: {row['outcome']}: {row['problem']}"
    wrong = is_wrong(row)
    return None if wrong is None else f"{row['item']}: {wrong}"
