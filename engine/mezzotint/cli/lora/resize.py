"""`mezzotint lora resize`: reduce the rank of a LoRA."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from mezzotint.checkpoints.plain_text import plain
from mezzotint.cli.command_options import add_command
from mezzotint.cli.context import Context
from mezzotint.cli.lora.written import OnLayer, add_output, dtype_of, rank, write
from mezzotint.values.basic import to_float

if TYPE_CHECKING:
    from mezzotint.cli.command_options import Commands
    from mezzotint.conversion.loras.rewriting import WrittenLora

_EXAMPLES = """\
  mezzotint lora resize style.safetensors --rank 16 -o small.safetensors
  mezzotint lora resize style.safetensors --keep 0.95 -o small.safetensors

--keep gives each layer the lowest rank that keeps this share of its energy (the sum of squares of what it adds).
"""


def add(commands: "Commands") -> None:
    """Add the command and its options."""
    parser = add_command(commands, "resize", "Reduce the rank of a LoRA.", resize, _EXAMPLES)
    parser.add_argument("file", metavar="FILE", type=Path, help="a LoRA as safetensors")
    how = parser.add_mutually_exclusive_group(required=True)
    how.add_argument("--rank", metavar="N", type=rank, help="highest rank of each layer")
    how.add_argument("--keep", metavar="SHARE", type=_share, help="share of the energy to keep, such as 0.95")
    add_output(parser, "that of the file")


def resize(arguments: argparse.Namespace, context: Context) -> int:
    """Write the smaller file."""
    from mezzotint.conversion.loras.resizing import resize_lora

    def make(on_layer: OnLayer) -> "WrittenLora":
        return resize_lora(
            arguments.file,
            arguments.output,
            rank=arguments.rank,
            keep=1.0 if arguments.keep is None else arguments.keep,
            dtype=dtype_of(arguments),
            on_layer=on_layer,
            cancelled=context.interrupt.stop_requested,
        )

    return write(arguments, context, "resizing", make)


def _share(word: str) -> float:
    value = to_float(word)
    if not 0 < value <= 1:
        raise argparse.ArgumentTypeError(
            f"'{plain(word)}' is not a share; expected a number above 0 up to 1, like 0.95"
        )
    return value
