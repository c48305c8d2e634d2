"""`mezzotint bench linear`: benchmark our quantized matmul kernels against torch in 16 bits."""

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

from mezzotint.benchmarks.product_shapes import GROUPS
from mezzotint.checkpoints.plain_text import plain
from mezzotint.cli.argument_types import names_of
from mezzotint.cli.columns import columns, number_cell
from mezzotint.cli.command_options import add_command
from mezzotint.cli.context import Context

if TYPE_CHECKING:
    from mezzotint.benchmarks.products import ProductRow
    from mezzotint.cli.command_options import Commands

EXAMPLES = """\
  mezzotint bench linear
  mezzotint bench linear --shapes sdxl,rows --device cuda:0
  mezzotint bench linear --json > rows.jsonl

ms: median time of one call, including rounding x to 8 bits; for torch._int_mm the integer product alone. On a GPU only
  device time counts, and inputs alternate so that its cache cannot hold them; on a CPU, where our kernels do not run,
  the exact reference is measured, on small shapes of the same kinds.
rate: 2 m k n divided by that time, in TOP/s; for rows, bytes read and written, in GB/s.
ratio: the time of torch linear in 16 bits (for rows: of a copy of as many bytes) divided by that of each; above 1 is
  faster.
loras: the time with three LoRAs of rank 16 divided by that without.
error: root mean square error against exact numbers: the cost of rounding x.
"""


def add(commands: "Commands") -> None:
    """Add the command and its options."""
    summary = "Benchmark quantized matrix products: our kernels against torch in 16 bits and others in 8."
    parser = add_command(commands, "linear", summary, run, EXAMPLES)
    parser.add_argument(
        "--shapes",
        metavar="GROUPS",
        type=names_of(GROUPS, "group of shapes"),
        default=(),
        help=f"groups of shapes, comma-separated: {', '.join(GROUPS)} (default: all)",
    )
    parser.add_argument("--device", default="auto", help="cpu, cuda, cuda:1 ... (default: the best one available)")
    parser.add_argument("--json", action="store_true", help="print one line of JSON for each row, as it is measured")
    parser.add_argument("-q", "--quiet", action="store_true", help="print only results and errors, no progress")


def run(arguments: argparse.Namespace, context: Context) -> int:
    """Measure, and print each row as JSON when it is measured, or a table at the end."""
    import torch

    from mezzotint import machine
    from mezzotint.benchmarks.attention import dtype_for, quiet
    from mezzotint.benchmarks.products import choose, kernels_for, measure
    from mezzotint.errors import Cancelled

    device = torch.device(machine.choose_device(arguments.device, machine.devices()).id)
    kernels, problem = kernels_for(device)
    if problem is not None:
        context.terminal.message(f"only torch and the exact reference are measured: {plain(problem, 1000)}")
    rows: list[ProductRow] = []
    with quiet():
        for row in measure(choose(arguments.shapes, device), device, dtype_for(device), kernels):
            if context.interrupt.stop_requested():
                raise Cancelled(f"stopped after {len(rows)} measurements")
            rows.append(row)
            if arguments.json:
                context.terminal.json(row)
            elif row.shape not in {before.shape for before in rows[:-1]}:
                outputs = "" if row.outputs is None else f" to {row.outputs}"
                context.terminal.message(f"{row.shape}: {row.rows} rows, {row.columns} columns{outputs}")
    if not arguments.json:
        context.terminal.result(_table(rows))
    return 0


def _table(rows: Sequence["ProductRow"]) -> str:
    table = [("SHAPE", "IMPLEMENTATION", "MS", "RATE", "RATIO", "LORAS", "ERROR", "")]
    table += [
        (
            row.shape,
            row.implementation,
            number_cell(row.milliseconds, "{:.4f}"),
            number_cell(row.tops, "{:.3g} TOP/s") or number_cell(row.gigabytes, "{:.0f} GB/s"),
            number_cell(row.ratio, "{:.2f}"),
            number_cell(row.with_loras, "{:.2f}"),
            number_cell(row.error, "{:.1e}"),
            plain(row.problem or "", 80),
        )
        for row in rows
    ]
    return columns(table)
