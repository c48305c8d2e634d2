"""`mezzotint prune`: a smaller copy of a model, without the blocks that it needs least."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from mezzotint.checkpoints.plain_text import plain
from mezzotint.cli.argument_types import integer
from mezzotint.cli.columns import columns
from mezzotint.cli.command_options import add_command, add_json, add_models_folder
from mezzotint.cli.context import Context
from mezzotint.cli.train import TrainingReporter
from mezzotint.codec import encode
from mezzotint.errors import UsageError
from mezzotint.protocol import ModelRef

if TYPE_CHECKING:
    from mezzotint.cli.command_options import Commands
    from mezzotint.jobs.pruning.run import PruneResult

_EXAMPLES = """\
  mezzotint prune starter-dit --prompts assets/samples/train/postcards.txt --blocks 2 -o starter-small
  mezzotint generate "a red house by the sea" -m ./starter-small
  mezzotint prune pixart-sigma --prompts prompts.txt --blocks 4 --steps 0 -o unhealed

The model makes images of the prompts. Blocks are removed one after another, each time the one without which the output
changes least; what is left then learns to predict what the whole model predicts. Prompts should be of all that the copy
is to be used for. Ctrl+C stops, and the same command goes on from there.
"""


def add(commands: "Commands") -> None:
    """Add the command and its options."""
    parser = add_command(commands, "prune", "Make a smaller copy of a transformer model.", run, _EXAMPLES)
    parser.add_argument("model", metavar="MODEL", help="id or folder of the model, in diffusers' layout")
    parser.add_argument(
        "--prompts", metavar="FILE", type=Path, required=True, help="a text file, a prompt on each line"
    )
    parser.add_argument("-o", "--output", metavar="DIR", type=Path, required=True, help="the folder to make")
    parser.add_argument(
        "--blocks", type=integer(1, 1000, 2), metavar="N", required=True, help="how many blocks are removed"
    )
    parser.add_argument(
        "--steps", type=integer(0, 1_000_000, 1000), metavar="N", help="steps of healing; 0: none (default: by size)"
    )
    parser.add_argument(
        "--images",
        type=integer(8, 1_000_000, 256),
        metavar="N",
        default=256,
        help="images that the model makes to learn from (default: 256)",
    )
    parser.add_argument("--rank", type=integer(1, 512, 32), metavar="N", help="rank of what heals (default: by size)")
    parser.add_argument("--rate", type=float, metavar="X", help="learning rate (default: by size)")
    parser.add_argument("--batch", type=integer(1, 256, 4), metavar="N", help="images in each step (default: by size)")
    parser.add_argument(
        "--resolution", type=integer(64, 4096, 512), metavar="N", help="pixels of a side (default: the model's own)"
    )
    parser.add_argument("--seed", type=integer(0, 2**63 - 1, 7), metavar="N", default=0, help="seed (default: 0)")
    parser.add_argument("--device", metavar="NAME", default="auto", help="auto, cpu, cuda, cuda:1 (default: auto)")
    parser.add_argument("-q", "--quiet", action="store_true", help="print only results and errors, no progress")
    add_json(parser)
    add_models_folder(parser)


def run(arguments: argparse.Namespace, context: Context) -> int:
    """Prune, and print what was removed."""
    from mezzotint.jobs.pruning.run import PruneRequest, PruningRun

    if arguments.rate is not None and not 1e-8 <= arguments.rate <= 1:
        raise UsageError(f"--rate is {arguments.rate:g}; it must be 1e-08 to 1")
    fields = ("blocks", "steps", "images", "rank", "rate", "batch", "resolution", "seed", "device")
    request = PruneRequest(
        model=ModelRef(id=arguments.model),
        prompts=arguments.prompts.expanduser().resolve(),
        output=arguments.output.expanduser().absolute(),
        **{name: getattr(arguments, name) for name in fields},
    )
    catalog = context.make_catalog(arguments.models_folder)
    with TrainingReporter(context) as reporter:
        result = PruningRun(request, catalog, reporter.on_event, context.interrupt.stop_requested).run()
    if arguments.json:
        context.terminal.json(encode(result))
    else:
        context.terminal.result(_text(result))
    return 0


def _text(result: "PruneResult") -> str:
    rows = [("REMOVED", "DISTANCE"), *((each.name, f"{each.distance:.4f}") for each in result.removed)]
    rows += [] if result.healed is None else [(f"after {result.steps} steps", f"{result.healed:.4f}")]
    share = result.parameters_left / result.parameters
    sizes = f"{result.parameters_left / 1e6:.2f} of {result.parameters / 1e6:.2f} million parameters ({share:.0%})"
    return f"{columns(rows)}\n\n{sizes}, {result.seconds:.0f} s\n{plain(result.output, 300)}"
