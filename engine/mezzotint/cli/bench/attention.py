"""`mezzotint bench attention`: benchmark our attention kernels against those of torch."""

import argparse
from argparse import ArgumentTypeError
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from mezzotint.benchmarks.attention_shapes import GROUPS
from mezzotint.checkpoints.plain_text import plain
from mezzotint.cli.argument_types import names_of
from mezzotint.cli.columns import columns, number_cell
from mezzotint.cli.command_options import add_command
from mezzotint.cli.context import Context

if TYPE_CHECKING:
    from mezzotint.benchmarks.attention import BenchRow
    from mezzotint.cli.command_options import Commands

EXAMPLES = """\
  mezzotint bench attention
  mezzotint bench attention --shapes sdxl,cross --device cuda:0 --plot attention.svg
  mezzotint bench attention --json > rows.jsonl
  mezzotint bench attention --patterns patterns.png

ms: median time of one call. On a GPU only device time counts, and inputs alternate so that its cache cannot hold them;
  on a CPU the shapes are small ones of the same kinds.
TFLOP/s: 4 b h nq nk d divided by that time, padding included.
ratio: the best time of torch's own (sdpa) divided by ours; above 1 ours is faster. The times of flash-fp16 and
  int8, -all and -fp8 include the conversion of what they multiply.
error: root mean square error against exact attention.
memory: peak memory besides the inputs.
"""


def add(commands: "Commands") -> None:
    """Add the command and its options."""
    summary = "Benchmark attention: our kernels against all of torch's implementations."
    parser = add_command(commands, "attention", summary, run, EXAMPLES)
    parser.add_argument(
        "--shapes",
        metavar="GROUPS",
        type=names_of(GROUPS, "group of shapes"),
        default=(),
        help=f"groups of shapes, comma-separated: {', '.join(GROUPS)} (default: all)",
    )
    parser.add_argument("--device", default="auto", help="cpu, cuda, cuda:1 ... (default: the best one available)")
    parser.add_argument("--plot", metavar="FILE", type=chart_file, help="plot the speeds as this .svg or .png")
    parser.add_argument(
        "--patterns",
        metavar="FILE",
        type=picture_file,
        help="draw all sparse patterns as this .png, and measure nothing",
    )
    parser.add_argument("--json", action="store_true", help="print one line of JSON for each row, as it is measured")
    parser.add_argument("-q", "--quiet", action="store_true", help="print only results and errors, no progress")


def chart_file(words: str) -> Path:
    """Parse the path of a chart. Raises ArgumentTypeError unless it ends in .svg or .png."""
    path = Path(words)
    if path.suffix.lower() not in (".svg", ".png"):
        raise ArgumentTypeError(f"'{plain(words)}' is not a plot; expected a name that ends in .svg or .png")
    return path


def picture_file(words: str) -> Path:
    """Parse the path of a picture. Raises ArgumentTypeError unless it ends in .png."""
    path = Path(words)
    if path.suffix.lower() != ".png":
        raise ArgumentTypeError(f"'{plain(words)}' is not a picture; expected a name that ends in .png")
    return path


def run(arguments: argparse.Namespace, context: Context) -> int:
    """Measure, and print each row as JSON when it is measured, or a table at the end; or draw the patterns."""
    if arguments.patterns is not None:
        from mezzotint.benchmarks.architectures.patterns import draw_patterns

        draw_patterns(arguments.patterns)
        context.terminal.message(f"the patterns are in {plain(str(arguments.patterns), 1000)}")
        return 0
    return _measure(arguments, context)


def _measure(arguments: argparse.Namespace, context: Context) -> int:
    import torch

    from mezzotint import machine
    from mezzotint.benchmarks.attention import choose, dtype_for, kernels_for, measure, quiet
    from mezzotint.errors import Cancelled

    device = torch.device(machine.choose_device(arguments.device, machine.devices()).id)
    kernels, problem = kernels_for(device)
    if problem is not None:
        context.terminal.message(f"only torch's own attention is measured: {plain(problem, 1000)}")
    rows: list[BenchRow] = []
    with quiet():
        for row in measure(choose(arguments.shapes, device), device, dtype_for(device), kernels):
            if context.interrupt.stop_requested():
                raise Cancelled(f"stopped after {len(rows)} measurements")
            rows.append(row)
            if arguments.json:
                context.terminal.json(row)
            elif row.shape not in {before.shape for before in rows[:-1]}:
                context.terminal.message(f"{row.shape}: {row.nq} queries, {row.nk} keys, heads of {row.head_dim}")
    if not arguments.json:
        context.terminal.result(_table(rows))
    if arguments.plot is not None:
        _plot(rows, arguments.plot)
    return 0


def _table(rows: Sequence["BenchRow"]) -> str:
    table = [("SHAPE", "IMPLEMENTATION", "MS", "TFLOP/S", "RATIO", "ERROR", "MEMORY", "")]
    table += [
        (
            row.shape,
            row.implementation,
            number_cell(row.milliseconds, "{:.3f}"),
            number_cell(row.tflops, "{:.3g}"),
            number_cell(row.ratio, "{:.2f}"),
            number_cell(row.error, "{:.1e}"),
            number_cell(None if row.peak_bytes is None else row.peak_bytes / 2**20, "{:.0f} MB"),
            plain(row.problem or "", 80),
        )
        for row in rows
    ]
    return columns(table)


def _plot(rows: Sequence["BenchRow"], path: Path) -> None:
    from mezzotint.benchmarks.bar_chart import Bar, BarChart, draw

    bars = [
        Bar(
            group=row.shape,
            label=row.implementation,
            value=row.tflops,
            strong=row.implementation.startswith("mezzotint"),
        )
        for row in rows
        if row.tflops is not None
    ]
    title = f"Attention on {rows[0].device}, {rows[0].dtype}, torch {rows[0].torch}" if rows else "Attention"
    draw(BarChart(title=title, unit="TFLOP/s", bars=tuple(bars)), path)
