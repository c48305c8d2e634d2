"""The table of what was measured on which GPU: each row is written as it is measured; targets wait as pending rows."""

import os
import tempfile
from collections.abc import Iterable
from dataclasses import astuple, dataclass, fields
from pathlib import Path

from kernel_build.errors import BuildError
from kernel_build.sources import KERNELS

RESULTS = KERNELS / "bench" / "RESULTS.md"
PENDING = "pending"
_HEAD = """\
# What was measured on which GPU

`make gpu-check` writes each row as it is measured. A pending row is a target that no GPU has been asked about yet.

"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A figure and where it comes from; a pending one has `what` and `target` alone."""

    what: str
    target: str = ""
    figure: str = PENDING
    gpu: str = ""
    commit: str = ""
    date: str = ""
    command: str = ""


TARGETS = (
    Row(what="d64 bf16, 4096 tokens, no mask", target="at least 290 TFLOP/s on an H200"),
    Row(what="d128 bf16, 4096 tokens, no mask", target="at least 330 TFLOP/s on an H200"),
    Row(what="int8 scores beside our own bf16 kernel, quantization counted", target="at least 1.3 times as fast"),
    Row(what="PixArt d72 self-attention beside the best SDPA backend", target="at least 1.3 times as fast"),
    Row(what="SDXL cross-attention beside the best SDPA backend, device time", target="at least 1.3 times as fast"),
    Row(
        what="VAE d512 at 1024x1024 beside the best SDPA backend that runs",
        target="at least 2 times as fast, in O(N) memory",
    ),
)
_COLUMNS = tuple(field.name for field in fields(Row))


def read_rows(path: Path = RESULTS) -> list[Row]:
    """The rows of the table, in order; BuildError for a file that holds something else."""
    lines = path.read_text("utf-8").removeprefix(_HEAD).splitlines() if path.is_file() else []
    rows = [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in lines[2:]]
    if any(len(row) != len(_COLUMNS) for row in rows):
        raise BuildError(f"{path} is not as it was written: its rows need {len(_COLUMNS)} columns; mend or remove it")
    return [Row(**dict(zip(_COLUMNS, row, strict=True))) for row in rows]


def record(row: Row, path: Path = RESULTS) -> None:
    """Write one row: in the place of the pending row for the same thing, else at the end."""
    rows = with_targets(read_rows(path))
    places = [index for index, old in enumerate(rows) if old.figure == PENDING and old.what == row.what]
    if places:
        rows[places[0]] = row
    else:
        rows.append(row)
    write_rows(rows, path)


def with_targets(rows: Iterable[Row]) -> list[Row]:
    """The rows, with those targets first that no row is about."""
    known = list(rows)
    told = {row.what for row in known}
    return [*(target for target in TARGETS if target.what not in told), *known]


def write_rows(rows: Iterable[Row], path: Path = RESULTS) -> None:
    """Write the whole table; a file is replaced at once or not at all."""
    lines = ["| " + " | ".join(_COLUMNS) + " |", "|" + " --- |" * len(_COLUMNS)]
    lines += ["| " + " | ".join(map(_cell, astuple(row))) + " |" for row in rows]
    text = _HEAD + "\n".join(lines) + "\n"
    with tempfile.NamedTemporaryFile("w", encoding="utf-8", newline="\n", dir=path.parent, delete=False) as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    Path(file.name).chmod(0o644)
    Path(file.name).replace(path)


def _cell(text: str) -> str:
    return " ".join(text.replace("|", "/").split())
