"""The table of what was measured on which GPU: each row is written as it is measured; targets wait as pending rows."""

import os
import tempfile
from collections.abc import Iterable
from dataclasses import asdict, astuple, dataclass, fields
from pathlib import Path

from kernel_build.errors import BuildError
from kernel_build.sources import KERNELS

RESULTS = KERNELS / "bench" / "RESULTS.md"
PENDING = "pending"
_HEAD = """\
# What was measured on which GPU

`make gpu-check PART=kernels` writes each row of `mezzotint bench attention` as it is measured, `PART=linear` each of
`mezzotint bench linear`, `PART=memory` each of a model of full size with random weights on a card that another process
makes small, `PART=streaming` each of a network of FLUX.1's shape whose weights pass through such a card. A pending row
is a target, on an H200, that has not been measured yet.

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where measurements were made; each row says it."""

    gpu: str
    commit: str
    date: str
    command: str


_BESIDE_TORCH = "at least {} times as fast as the best SDPA backend"
_BESIDE_OURS = "at least 1.3 times as fast as mezzotint flash, quantization counted"
_BESIDE_LINEAR = "not slower than torch linear in bfloat16, 1.3 times as fast aimed at, rounding x counted"
_BESIDE_COPY = "at least 80 % of a copy of as many bytes"
_LORAS = "at most 1.10 times the time without LoRAs"
_LAYERS = (  # of models, whose products are those of integers
    "SDXL, 4096x640 to 640",
    "SDXL, 4096x640 to 5120",
    "SDXL, 4096x2560 to 640",
    "SDXL, 1024x1280 to 1280",
    "SDXL, 1024x1280 to 10240",
    "SDXL, 1024x5120 to 1280",
    "FLUX.1, 4608x3072 to 9216",
    "FLUX.1, 4608x3072 to 12288",
    "FLUX.1, 4608x12288 to 3072",
    "FLUX.1, 4608x15360 to 3072",
)
_ACTIVATIONS = (
    "SDXL, 4096x640 as it is",
    "SDXL, 4096x640 layer norm",
    "SDXL, 4096x2560 geglu",
    "SDXL, 1024x5120 geglu",
    "FLUX.1, 4608x3072 layer norm",
    "FLUX.1, 4608x12288 gelu tanh",
)
# Of each shape and implementation of `mezzotint bench attention`, what an H200 is to show.
ATTENTION_TARGETS = (
    Row(what="SDXL, 64x64: mezzotint flash", target="at least 290 TFLOP/s"),
    Row(what="FLUX.1, 4096 tokens: mezzotint flash", target="at least 330 TFLOP/s"),
    Row(what="SDXL, 64x64: mezzotint int8", target=_BESIDE_OURS),
    Row(what="FLUX.1, 4096 tokens: mezzotint int8", target=_BESIDE_OURS),
    Row(what="PixArt-Sigma: mezzotint flash", target=_BESIDE_TORCH.format(1.3)),
    Row(what="SDXL to words, 64x64: mezzotint flash", target=_BESIDE_TORCH.format(1.3)),
    Row(what="SDXL to words, 32x32: mezzotint flash", target=_BESIDE_TORCH.format(1.3)),
    Row(what="autoencoder, 1024x1024: mezzotint flash", target=_BESIDE_TORCH.format(2) + ", in O(N) memory"),
)
# And of those of `mezzotint bench linear`.
LINEAR_TARGETS = (
    *(Row(what=f"{layer}: mezzotint int8", target=_BESIDE_LINEAR) for layer in _LAYERS),
    *(Row(what=f"{layer}: mezzotint int8, 3 LoRAs", target=_LORAS) for layer in _LAYERS),
    *(Row(what=f"{rows}: mezzotint rows", target=_BESIDE_COPY) for rows in _ACTIVATIONS),
)
_KEPT = "measured peak at most the limit and within 10 % of the prediction"
# And of plans for a model of full size, on an H200 that is capped to so much.
MEMORY_TARGETS = (
    Row(what="SDXL base, 1024x1024, 8 GB: mezzotint", target=_KEPT),
    Row(what="SDXL base, 1024x1024, 6 GB: mezzotint", target=_KEPT),
    Row(what="SDXL base, 1024x1024, 4 GB: mezzotint", target=_KEPT),
    Row(what="SDXL base + refiner, 1024x1024, 8 GB: mezzotint", target=f"{_KEPT}; at most 1.10 times all resident"),
    Row(what="SDXL base + refiner, 1024x1024, 6 GB: mezzotint", target=_KEPT),
    Row(what="SDXL base + refiner, 1024x1024, 4 GB: mezzotint", target=f"{_KEPT}; at most 1.6 times all resident"),
)
_BOUND = "at most 1.10 times max(Tc, (1 - r) W / B)"
# And of a network that is streamed, which is no faster than its computing, nor than what has to be copied.
STREAM_TARGETS = tuple(
    Row(what=f"FLUX.1's shape in bfloat16, 8 GB, copies {copies}: mezzotint", target=_BOUND)
    for copies in ("as fast as the link is", "slowed to 24 GB/s", "slowed to 12 GB/s")
)
TARGETS = (*ATTENTION_TARGETS, *LINEAR_TARGETS, *MEMORY_TARGETS, *STREAM_TARGETS)
_COLUMNS = tuple(field.name for field in fields(Row))


def measured_row(what: str, figure: str, place: Place, gpu: str = "") -> Row:
    """The row of something that was measured there, with its target where it has one; `gpu`: as it was made to be."""
    target = next((target.target for target in TARGETS if target.what == what), "")
    return Row(what=what, target=target, figure=figure, **asdict(place) | ({"gpu": gpu} if gpu else {}))


def read_rows(path: Path = RESULTS) -> list[Row]:
    """The rows of the table, in order; BuildError for a file that holds something else."""
    text = path.read_text("utf-8") if path.is_file() else ""
    lines = [line for line in text.splitlines() if line.startswith("|")]  # the head is written anew
    rows = [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in lines[2:]]
    if any(len(row) != len(_COLUMNS) for row in rows):
        raise BuildError(f"{path} is not as it was written: its rows need {len(_COLUMNS)} columns; mend or remove it")
    return [Row(**dict(zip(_COLUMNS, row, strict=True))) for row in rows]


def record(row: Row, path: Path = RESULTS, *, counts: bool = True) -> None:
    """Write one row: in the place of the pending row for the same thing, if it counts for that, else at the end."""
    rows = with_targets(read_rows(path))
    places = [index for index, old in enumerate(rows) if old.figure == PENDING and old.what == row.what]
    if places and counts:
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
