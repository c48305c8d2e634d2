"""Options and output of the commands that write a LoRA."""

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from mezzotint.checkpoints.plain_text import plain, size
from mezzotint.cli.argument_types import integer
from mezzotint.cli.columns import facts
from mezzotint.cli.command_options import add_json
from mezzotint.cli.context import Context
from mezzotint.cli.reporter import Reporter
from mezzotint.protocol import Progress

if TYPE_CHECKING:
    import torch

    from mezzotint.conversion.loras.rewriting import WrittenLora

FORMATS = ("float16", "bfloat16", "float32")
LARGEST_RANK = 4096  # of a LoRA that can be read
OnLayer = Callable[[int, int], None]

rank: Callable[[str], int] = integer(1, LARGEST_RANK, 16)


def add_output(parser: argparse.ArgumentParser, default: str) -> None:
    """Add the options of the file to write; `default` says what its number format is otherwise."""
    parser.add_argument(
        "-o", "--output", metavar="PATH", type=Path, required=True, help="safetensors file to write; must not exist yet"
    )
    parser.add_argument("--dtype", choices=FORMATS, help=f"number format of the factors (default: {default})")
    parser.add_argument("-q", "--quiet", action="store_true", help="print only results and errors, no progress")
    add_json(parser)


def dtype_of(arguments: argparse.Namespace) -> "torch.dtype | None":
    """The number format that was asked for."""
    import torch

    found: torch.dtype | None = None if arguments.dtype is None else getattr(torch, arguments.dtype)
    return found


def write(arguments: argparse.Namespace, context: Context, what: str, make: "Callable[[OnLayer], WrittenLora]") -> int:
    """Have the file made with a progress bar, and print what it is."""
    with Reporter(context, "json") as reporter:

        def on_layer(done: int, total: int) -> None:
            reporter.on_event(Progress(what=what, done=done, total=total, unit="layers"))

        made = make(on_layer)
    if arguments.json:
        context.terminal.json(made)
        return 0
    context.terminal.message(facts(_rows(made)))
    context.terminal.result(plain(made.output, 1000))
    return 0


def _rows(made: "WrittenLora") -> dict[str, str]:
    ranks = f"{made.lowest_rank}"
    if made.highest_rank != made.lowest_rank:
        ranks += f" to {made.highest_rank}"
    rows = {"layers": str(made.layers), "rank": ranks, "size": size(made.bytes)}
    if made.kept < 1:
        rows["energy kept"] = f"{made.kept:.2%}"
    left_out = getattr(made, "left_out", 0)
    if left_out:
        rows["left out"] = f"{left_out} other tensors that differ, such as norms and biases, which no LoRA can change"
    return rows
