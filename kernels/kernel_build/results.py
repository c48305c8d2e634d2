"""The table of GPU measurements: rows are added as they are measured; unmeasured targets are pending rows."""

import os
import tempfile
from collections.abc import Iterable
from dataclasses import asdict, astuple, dataclass, fields
from pathlib import Path

from kernel_build.errors import BuildError
from kernel_build.roofline.figures import model_figure
from kernel_build.sources import KERNELS
from kernel_build.targets import TARGETS, Target, target_text

RESULTS = KERNELS / "bench" / "RESULTS.md"
PENDING = "pending"
_HEAD = """\
# What was measured on which GPU

`make gpu-check` measures, and `python -m kernel_build record DIR` writes its folder of results here: rows of `mezzotint
bench attention` and `mezzotint bench linear`, of attention's gradients alone, of a model of full size with random
weights on a card that another process makes small, and of a network of FLUX.1's shape whose weights pass through such a
card. A pending row is a target that has not been measured yet; TFLOP/s are those of an H200. `model` is expected: times
as products, instructions or memory bound them ([roofline](../../docs/kernels.md)), or what the planner plans.

"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A figure and its provenance; a pending row has only `what`, `target` and `model`."""

    what: str
    target: str = ""
    model: str = ""  # what is expected
    figure: str = PENDING
    gpu: str = ""
    commit: str = ""
    date: str = ""
    command: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where measurements were made; every row includes it."""

    gpu: str
    commit: str
    date: str
    command: str


_COLUMNS = tuple(field.name for field in fields(Row))


def measured_row(what: str, figure: str, place: Place, gpu: str = "") -> Row:
    """Return a measured row with its target, if it has one; `gpu` overrides the GPU's name."""
    return Row(
        what=what,
        target=target_text(what),
        model=model_figure(what),
        figure=figure,
        **asdict(place) | ({"gpu": gpu} if gpu else {}),
    )


def read_rows(path: Path = RESULTS) -> list[Row]:
    """Return the table's rows in order. Raises BuildError if the file is not such a table."""
    text = path.read_text("utf-8") if path.is_file() else ""
    lines = [line for line in text.splitlines() if line.startswith("|")]  # the header is regenerated
    rows = [_cells(line) for line in lines[2:]]
    if any(len(row) != len(_COLUMNS) for row in rows):
        raise BuildError(f"{path} is not as it was written: its rows need {len(_COLUMNS)} columns; mend or remove it")
    return [Row(**dict(zip(_COLUMNS, row, strict=True))) for row in rows]


def _cells(line: str) -> list[str]:
    cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
    return [*cells[:2], "", *cells[2:]] if len(cells) == len(_COLUMNS) - 1 else cells  # before there were models


def record(row: Row, path: Path = RESULTS, *, counts: bool = True) -> None:
    """Add a row: in place of the pending row for the same thing if it `counts`, else at the end."""
    rows = with_targets(read_rows(path))
    places = [index for index, old in enumerate(rows) if old.figure == PENDING and old.what == row.what]
    if places and counts:
        rows[places[0]] = row
    else:
        rows.append(row)
    write_rows(rows, path)


def with_targets(rows: Iterable[Row]) -> list[Row]:
    """Return the rows, preceded by pending rows for targets that have none; pending ones say what targets say now."""
    targets = {target.what: target for target in TARGETS}
    known = [
        pending(targets[row.what]) if row.figure == PENDING and row.what in targets else row for row in rows
    ]  # in today's words
    told = {row.what for row in known}
    return [*(pending(target) for target in TARGETS if target.what not in told), *known]


def pending(target: Target) -> Row:
    """Return the row of a target that has not been measured."""
    return Row(what=target.what, target=target.target, model=model_figure(target.what))


def write_rows(rows: Iterable[Row], path: Path = RESULTS) -> None:
    """Write the whole table atomically."""
    lines = ["| " + " | ".join(_COLUMNS) + " |", "|" + " --- |" * len(_COLUMNS)]
    lines += ["| " + " | ".join(map(_cell, astuple(row))) + " |" for row in rows]
    write_whole(path, _HEAD + "\n".join(lines) + "\n")


def write_whole(path: Path, text: str) -> None:
    """Write a file atomically: under a temporary name, synced, then renamed."""
    with tempfile.NamedTemporaryFile(
        "w", encoding="utf-8", newline="\n", dir=path.parent, suffix=".part", delete=False
    ) as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    Path(file.name).chmod(0o644)
    Path(file.name).replace(path)


def _cell(text: str) -> str:
    return " ".join(text.replace("|", "/").split())
