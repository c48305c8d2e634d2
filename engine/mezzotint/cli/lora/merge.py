"""`mezzotint lora merge`: add LoRAs for the same model into one file."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from mezzotint.cli.argument_types import argument
from mezzotint.cli.command_options import add_command
from mezzotint.cli.context import Context
from mezzotint.cli.lora.written import OnLayer, add_output, dtype_of, rank, write
from mezzotint.errors import UsageError
from mezzotint.request_protocol import LoraFile

if TYPE_CHECKING:
    from mezzotint.cli.command_options import Commands
    from mezzotint.conversion.loras.rewriting import WrittenLora

_EXAMPLES = """\
  mezzotint lora merge style.safetensors:0.8 person.safetensors -o both.safetensors
  mezzotint lora merge a.safetensors b.safetensors:-0.5 --rank 32 -o small.safetensors

Without --rank the result adds exactly what the LoRAs add together, and its rank is the sum of theirs.
"""


def add(commands: "Commands") -> None:
    """Add the command and its options."""
    parser = add_command(commands, "merge", "Merge LoRAs for the same model into one file.", merge, _EXAMPLES)
    takes = LoraFile()
    parser.add_argument(
        "loras", metavar=takes.metavar, nargs="+", type=argument(takes), help="two or more LoRAs, each with its weight"
    )
    parser.add_argument("--rank", metavar="N", type=rank, help="reduce the result to at most this rank")
    add_output(parser, "that of the files; float32 if they differ")


def merge(arguments: argparse.Namespace, context: Context) -> int:
    """Write the merged file."""
    if len(arguments.loras) < 2:
        raise UsageError("one LoRA is nothing to merge; name two or more, or use `mezzotint lora resize`")
    from mezzotint.conversion.loras.merging import merge_loras

    def make(on_layer: OnLayer) -> "WrittenLora":
        return merge_loras(
            [(Path(lora.path), lora.weight) for lora in arguments.loras],
            arguments.output,
            rank=arguments.rank,
            dtype=dtype_of(arguments),
            on_layer=on_layer,
            cancelled=context.interrupt.stop_requested,
        )

    return write(arguments, context, "merging", make)
