"""`mezzotint bench training-memory`: the memory of training, predicted and measured."""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from mezzotint.checkpoints.plain_text import size
from mezzotint.cli.argument_types import integer
from mezzotint.cli.bench.attention import chart_file
from mezzotint.cli.columns import columns
from mezzotint.cli.command_options import add_command, add_models_folder
from mezzotint.cli.context import Context
from mezzotint.errors import Cancelled
from mezzotint.protocol import ModelRef

if TYPE_CHECKING:
    from mezzotint.benchmarks.training_memory.cases import CaseRow, DepthRow
    from mezzotint.benchmarks.training_memory.steps import MeasuredStep
    from mezzotint.benchmarks.training_memory.trunks import TrunkRow
    from mezzotint.catalog import Catalog
    from mezzotint.cli.command_options import Commands

_STARTERS = ("starter-dit", "starter-xl")
EXAMPLES = """\
  mezzotint bench training-memory
  mezzotint bench training-memory -m starter-dit --batch 16 --plot memory.png

kept: bytes that a block of 262144 tokens of 128 numbers in float32 keeps for its backward pass; A keeps the attention's
  scores, B does not, C keeps only input and output; by our byte account, and by autograd's hooks as a check.
trunk: peak bytes of activations in a step that trains all weights of starter-dit with so many blocks, checkpointed or
  reversible.
predicted, measured: peak bytes of a training step on the CPU, as planned and as counted.
seconds: median of a step.
"""


def add(commands: "Commands") -> None:
    """Add the command and its options."""
    summary = "Benchmark the memory of training: what blocks keep, and what each way to save memory saves."
    parser = add_command(commands, "training-memory", summary, run, EXAMPLES)
    parser.add_argument(
        "-m", "--model", dest="models", metavar="MODEL", action="append", help="a small model (default: two starters)"
    )
    parser.add_argument("--batch", metavar="N", type=integer(4, 256, 16), default=16, help="images (default: 16)")
    parser.add_argument("--plot", metavar="FILE", type=chart_file, help="plot the measured bytes as this .svg or .png")
    parser.add_argument("--json", action="store_true", help="print one line of JSON for each row, as it is measured")
    parser.add_argument("-q", "--quiet", action="store_true", help="print only results and errors, no progress")
    add_models_folder(parser)


def run(arguments: argparse.Namespace, context: Context) -> int:
    """Count the cases and the depths, then take steps of each model with each lever."""
    from mezzotint.benchmarks.training_memory.cases import cases, depths
    from mezzotint.benchmarks.training_memory.trunks import trunks

    kept, deep, reversed_ = list(cases()), list(depths()), list(trunks(arguments.batch))
    if arguments.json:
        for row in (*kept, *deep, *reversed_):
            context.terminal.json(row)
    catalog = context.make_catalog(arguments.models_folder)
    steps = {name: _steps(name, catalog, arguments, context) for name in arguments.models or _STARTERS}
    if not arguments.json:
        context.terminal.result("\n\n".join([_cases(kept), _depths(deep), _trunks(reversed_), _levers(steps)]))
    if arguments.plot is not None:
        _plot(steps, arguments.plot)
    return 0


def _steps(name: str, catalog: "Catalog", arguments: argparse.Namespace, context: Context) -> "list[MeasuredStep]":
    from mezzotint.benchmarks.training_memory.steps import StepBench, every_lever

    bench = StepBench(catalog.find(ModelRef(id=name)))
    rows: list[MeasuredStep] = []
    for levers in every_lever(arguments.batch):
        if context.interrupt.stop_requested():
            raise Cancelled(f"stopped after {len(rows)} measurements of {name}")
        rows.append(bench.measure(levers))
        if arguments.json:
            context.terminal.json(rows[-1])
        else:
            context.terminal.message(f"{name}: {rows[-1].name}")
    return rows


def _cases(rows: "Sequence[CaseRow]") -> str:
    table = [("CASE", "HEADS", "KEPT", "BY HOOKS")]
    return columns(
        [*table, *((row.case, str(row.heads), _gib(row.kept_bytes), _gib(row.hooked_bytes)) for row in rows)]
    )


def _depths(rows: "Sequence[DepthRow]") -> str:
    modes = list(dict.fromkeys(row.checkpointing for row in rows))
    found = {(row.blocks, row.checkpointing): size(row.kept_bytes) for row in rows}
    blocks = dict.fromkeys(row.blocks for row in rows)
    return columns([("BLOCKS", *modes), *((str(n), *(found[n, mode] for mode in modes)) for n in blocks)])


def _trunks(rows: "Sequence[TrunkRow]") -> str:
    ways = list(dict.fromkeys(row.name for row in rows))
    found = {(row.blocks, row.name): size(row.peak_bytes) for row in rows}
    blocks = dict.fromkeys(row.blocks for row in rows)
    return columns([("TRUNK", *ways), *((str(n), *(found[n, way] for way in ways)) for n in blocks)])


def _levers(steps: "dict[str, list[MeasuredStep]]") -> str:
    table = [("MODEL", "LEVERS", "PREDICTED", "MEASURED", "ERROR", "SECONDS")]
    for model, rows in steps.items():
        table += [
            (
                model,
                row.name,
                size(row.predicted_bytes),
                size(row.measured_bytes),
                f"{100 * row.error:+.1f} %",
                f"{row.seconds:.3f}",
            )
            for row in rows
        ]
    return columns(table)


def _gib(count: int) -> str:
    return f"{count / 2**30:.3f} GB"


def _plot(steps: "dict[str, list[MeasuredStep]]", path: Path) -> None:
    from mezzotint.benchmarks.bar_chart import Bar, BarChart, draw

    bars = tuple(
        Bar(group=model, label=row.name, value=row.measured_bytes / 2**20, strong=row.name != "none")
        for model, rows in steps.items()
        for row in rows
    )
    draw(BarChart(title="Peak memory of a training step", unit="MB", bars=bars), path)
