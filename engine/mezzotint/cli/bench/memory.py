"""`mezzotint bench memory`: compare predicted and measured memory peaks, and the time that each limit costs."""

import argparse
import contextlib
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mezzotint.benchmarks.ballast import limit_gpu_memory
from mezzotint.checkpoints.plain_text import plain, size, size_at_least
from mezzotint.cli import argument_types
from mezzotint.cli.argument_types import integer, memory_size
from mezzotint.cli.bench.memory_cells import BenchCase, BenchSettings, CellBench, MemoryCell, is_near, no_ballast
from mezzotint.cli.columns import columns
from mezzotint.cli.command_options import add_command, add_json, add_models_folder
from mezzotint.cli.context import Context
from mezzotint.cli.plan import models_of
from mezzotint.errors import UnknownModel, UsageError
from mezzotint.protocol import ModelRef

if TYPE_CHECKING:
    from mezzotint.catalog import Catalog
    from mezzotint.cli.command_options import Commands

STEPS, REPEATS = 8, 3
SIDES = (128, 192, 256)  # pixels; the bundled models take seconds at these sizes
_PLENTY = 4  # RAM divided by this is the size of a simulated device on which everything fits
EXAMPLES = """\
  mezzotint bench memory
  mezzotint bench memory -m starter-xl+starter-xl-refiner --size 256x256 --limit 24MB --limit 32MB --plot peaks.png
  mezzotint bench memory -m sdxl-base --limit 8GB --limit 6GB --limit 4GB --ballast --json

Each image is generated with everything on the device, and under each limit. Without a GPU the device is simulated:
every tensor counts as it would on a card, to the byte, while all else runs at the speed of the CPU.

phases: the predicted and the measured peak (the highest of all runs), and their difference.
peak: the highest measured peak, and whether it exceeds the limit.
blocks: resident blocks of all networks; the others are streamed.
ratio: the median compute time of one image divided by that with everything on the device, in the same run.
image: whether its pixels are identical.
"""


def add(commands: "Commands") -> None:
    """Add the command and its options."""
    parser = add_command(commands, "memory", "Compare predicted with measured memory.", run, EXAMPLES)
    parser.add_argument(
        "-m", "--model", dest="models", metavar="MODEL[+REFINER]", action="append", default=[],
        help="an id of `mezzotint models list`, or a path (may be repeated; default: every bundled model)",
    )  # fmt: skip
    parser.add_argument(
        "--size", dest="sizes", metavar="WxH", type=argument_types.size, action="append", default=[],
        help=f"pixels (may be repeated; default: {', '.join(map(str, SIDES))}, square)",
    )  # fmt: skip
    parser.add_argument(
        "--limit", dest="limits", metavar="SIZE", type=memory_size, action="append", default=[],
        help="limit of device memory, such as 6GB (may be repeated; default: three, from the least that works upwards)",
    )  # fmt: skip
    parser.add_argument(
        "--steps", metavar="N", type=integer(1, 1000, STEPS), default=STEPS, help=f"steps per image (default: {STEPS})"
    )
    parser.add_argument(
        "--repeats", metavar="N", type=integer(1, 100, REPEATS), default=REPEATS,
        help=f"timed images per limit, after an untimed one (default: {REPEATS})",
    )  # fmt: skip
    parser.add_argument(
        "--ballast", action="store_true",
        help="have another process allocate the VRAM beyond each limit, so that the card really is that small",
    )  # fmt: skip
    parser.add_argument("--device", default="auto", help="cpu, cuda, cuda:1 ... (default: the best one available)")
    parser.add_argument("--plot", metavar="FILE", type=Path, help="plot measured against predicted peaks, as a .png")
    add_json(parser)
    parser.add_argument("-q", "--quiet", action="store_true", help="print only results and errors, no progress")
    add_models_folder(parser)


def run(arguments: argparse.Namespace, context: Context) -> int:
    """Measure and print the cells."""
    from mezzotint import machine

    if arguments.plot is not None and arguments.plot.suffix.lower() != ".png":
        raise UsageError(f"--plot {plain(arguments.plot, 200)}: expected a name that ends in .png")
    device = machine.choose_device(arguments.device, machine.devices())
    catalog = context.make_catalog(arguments.models_folder)
    cases = _cases(arguments.models, arguments.sizes, catalog)
    on_card = device.id.startswith("cuda")
    context.terminal.message(f"device: {device.name}" if on_card else "device: simulated, on the processor")
    if arguments.ballast and not on_card:
        raise UsageError(f"--ballast requires a CUDA device, and the device is {device.id}")
    settings = BenchSettings(
        steps=arguments.steps,
        repeats=arguments.repeats,
        device=device.id,
        limits=tuple(arguments.limits),
        plenty=None if on_card else _plenty(),
        ballast=partial(limit_gpu_memory, int(device.id.partition(":")[2] or 0)) if arguments.ballast else no_ballast,
    )
    with (
        contextlib.closing(context.make_engine(catalog)) as engine,
        tempfile.TemporaryDirectory(prefix="mezzotint-bench-") as folder,
    ):
        bench = CellBench(engine, context, settings, folder)
        cells = [cell for case in cases for cell in _beside_diffusers(bench, case, catalog, settings)]
    if arguments.plot is not None:
        _draw(cells, arguments.plot)
    if arguments.json:
        header = {"device": device.name, "simulated": not on_card, "steps": settings.steps, "repeats": settings.repeats}
        context.terminal.json({**header, "cells": [_encoded(cell) for cell in cells], "summary": summary(cells)})
    else:
        context.terminal.result(f"{table(cells)}\n\n{_format_summary(cells)}")
    return 0


def _beside_diffusers(
    bench: CellBench, case: BenchCase, catalog: "Catalog", settings: BenchSettings
) -> Iterator[MemoryCell]:
    """Yield our cells and, on a GPU, those of diffusers' offloading methods."""
    from mezzotint.cli.bench.diffusers_offload import offload_cells

    ours = list(bench.measure(case))
    yield from ours
    if settings.device.startswith("cuda"):
        bench.close()  # our resident weights would count towards the limit
        path = catalog.find(ModelRef(id=case.models[0])).info.path
        yield from offload_cells(case, Path(path), settings, ours[0].seconds)


def _plenty() -> int:
    import psutil

    return int(psutil.virtual_memory().total) // _PLENTY


def _cases(named: Sequence[str], sizes: Sequence[tuple[int, int]], catalog: "Catalog") -> list[BenchCase]:
    """Return the subjects to measure. Raises for an unusable model, before any image is generated."""
    chosen = [models_of(words) for words in named] or list(_bundled(catalog))
    if not chosen:
        raise UnknownModel("no bundled model is here; name one of `mezzotint models list` with --model")
    found = [tuple(catalog.find(ModelRef(id=name)).info.id for name in names) for names in chosen]
    sides = sizes or [(side, side) for side in SIDES]
    return [BenchCase(models=names, width=width, height=height) for names in found for width, height in sides]


def _bundled(catalog: "Catalog") -> Iterator[tuple[str, ...]]:
    """Yield each bundled model alone and, where there is one, with its refiner."""
    bundled = [info for info in catalog.models() if info.source == "bundled" and info.problem is None]
    refiners = [info.id for info in bundled if info.variant == "refiner"]
    for info in bundled:
        if info.id not in refiners:
            yield (info.id,)
            yield from ((info.id, refiner) for refiner in refiners if refiner.startswith(info.id))


def summary(cells: Sequence[MemoryCell]) -> dict[str, int]:
    """Count how often limits held and predictions were within 10 %."""
    limited = [cell for cell in cells if cell.within_limit is not None]
    predicted = [cell for cell in cells if cell.near is not None]
    phases = [phase for cell in cells for phase in cell.phases]
    return {
        "limited_cells": len(limited),
        "within_limit": sum(bool(cell.within_limit) for cell in limited),
        "predicted_cells": len(predicted),
        "peaks_within_a_tenth": sum(bool(cell.near) for cell in predicted),
        "phases": len(phases),
        "phases_within_a_tenth": sum(is_near(phase.predicted_bytes, phase.measured_bytes) for phase in phases),
    }


def _format_summary(cells: Sequence[MemoryCell]) -> str:
    found = summary(cells)
    return (
        f"{found['within_limit']} of {found['limited_cells']} stayed within their limit; peaks within 10 % of the "
        f"prediction: {found['peaks_within_a_tenth']} of {found['predicted_cells']}, of single phases "
        f"{found['phases_within_a_tenth']} of {found['phases']}"
    )


def _encoded(cell: MemoryCell) -> dict[str, Any]:
    return {**asdict(cell), "within_limit": cell.within_limit, "within_a_tenth": cell.near}


def table(cells: Sequence[MemoryCell]) -> str:
    """Format a row for each limit, with a column for each phase."""
    phases = list(dict.fromkeys(phase.name for cell in cells for phase in cell.phases))
    phases.sort(key=lambda name: (name == "decode", name.startswith("stage"), name))
    upper = [name.upper() for name in phases]
    rows = [("MODEL", "SIZE", "LIMIT", "PRECISION", "BLOCKS", *upper, "PEAK", "SECONDS", "RATIO", "IMAGE", "")]
    for cell in cells:
        found = {phase.name: phase for phase in cell.phases}
        compared = (_compared(found[name].predicted_bytes, found[name].measured_bytes) if name in found else ""
                    for name in phases)  # fmt: skip
        rows.append((*_setting_cells(cell), *compared, *_result_cells(cell)))
    return columns(rows)


def _setting_cells(cell: MemoryCell) -> tuple[str, ...]:
    limit = "all" if cell.limit_bytes is None else size_at_least(cell.limit_bytes)
    label = cell.precision if cell.method == "mezzotint" else cell.method
    precision = label + (f", tiles of {cell.tile}" if cell.tile else "")
    precision += "" if cell.text_precision in {"", cell.precision} else f", text encoder {cell.text_precision}"
    precision += "" if cell.guidance == "batched" else f", {cell.guidance}"
    return (plain(cell.model, 100), f"{cell.width}x{cell.height}", limit, precision, cell.blocks)


def _result_cells(cell: MemoryCell) -> tuple[str, ...]:
    peak = "" if cell.measured_bytes is None else size(cell.measured_bytes)
    if cell.within_limit is False:
        peak += " ABOVE"
    seconds = "" if cell.seconds is None else f"{cell.seconds:.2f}"
    ratio = "" if cell.ratio is None else f"{cell.ratio:.2f}"
    image = {None: "", True: "same", False: "different"}[cell.same_image]
    return (peak, seconds, ratio, image, plain(cell.problem or "; ".join(cell.recoveries), 100))


def _compared(predicted: int, measured: int) -> str:
    apart = 100 * (measured / predicted - 1) if predicted else 0.0
    return f"{predicted / 2**20:.1f} > {measured / 2**20:.1f} MB {apart:+.0f} %"


def _draw(cells: Sequence[MemoryCell], path: Path) -> None:
    from mezzotint.benchmarks.scatter_chart import Point, ScatterChart, draw_scatter

    points = [
        Point(group=cell.model, label="", x=phase.predicted_bytes / 2**20, y=phase.measured_bytes / 2**20)
        for cell in cells
        for phase in cell.phases
    ]
    chart = ScatterChart(
        title="Peaks of phases", x_name="predicted, MB", y_name="measured, MB", points=points, diagonal=True
    )
    draw_scatter(chart, path)
