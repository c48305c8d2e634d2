"""`mezzotint lora extract`: make a LoRA of how a finetuned model differs from its base model."""

import argparse
from typing import TYPE_CHECKING

from mezzotint.cli.command_options import add_command, add_models_folder
from mezzotint.cli.context import Context
from mezzotint.cli.lora.written import OnLayer, add_output, dtype_of, rank, write
from mezzotint.protocol import ModelRef

if TYPE_CHECKING:
    from mezzotint.cli.command_options import Commands
    from mezzotint.conversion.loras.rewriting import WrittenLora
    from mezzotint.families.family import ModelSources

_EXAMPLES = """\
  mezzotint lora extract finetune.safetensors sdxl-base --rank 64 -o finetune-lora.safetensors

Both models stay on disk: a layer of each is in memory at a time. They may be of different forms, such as a folder and
a single file. The base model plus the LoRA is the finetuned model as closely as the rank allows.
"""


def add(commands: "Commands") -> None:
    """Add the command and its options."""
    summary = "Extract a LoRA from a finetuned model, given its base model."
    parser = add_command(commands, "extract", summary, extract, _EXAMPLES)
    parser.add_argument("tuned", metavar="TUNED", help="finetuned model: an id of `mezzotint models list`, or a path")
    parser.add_argument("base", metavar="BASE", help="the model that it was made from: likewise")
    parser.add_argument("--rank", metavar="N", type=rank, required=True, help="rank of the LoRA, such as 32 or 64")
    parser.add_argument("--device", metavar="NAME", default="auto", help="auto, cpu, cuda, cuda:1 (default: auto)")
    add_output(parser, "float16")
    add_models_folder(parser)


def extract(arguments: argparse.Namespace, context: Context) -> int:
    """Write the LoRA."""
    import torch

    from mezzotint.conversion.loras.extraction import extract_lora
    from mezzotint.machine import choose_device, devices

    tuned, base = (_sources(name, arguments, context) for name in (arguments.tuned, arguments.base))

    wanted = choose_device(arguments.device, devices())
    device = torch.device(wanted.id if wanted.id.startswith("cuda") else "cpu")  # others lack decompositions

    def make(on_layer: OnLayer) -> "WrittenLora":
        return extract_lora(
            tuned,
            base,
            arguments.output,
            rank=arguments.rank,
            dtype=dtype_of(arguments) or torch.float16,
            device=device,
            on_layer=on_layer,
            cancelled=context.interrupt.stop_requested,
        )

    return write(arguments, context, "comparing", make)


def _sources(name: str, arguments: argparse.Namespace, context: Context) -> "ModelSources":
    from mezzotint.families.known import family_of

    found = context.make_catalog(arguments.models_folder).find(ModelRef(id=name))
    return family_of(found.detected.family).sources(found.checkpoint, found.detected)
