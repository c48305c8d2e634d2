"""`mezzotint models set`: choose the VAE of a model, and the text encoders of a transformer in a file of its own."""

import argparse
from typing import TYPE_CHECKING

from mezzotint.cli.command_options import add_command, add_json, add_models_folder
from mezzotint.cli.context import Context

if TYPE_CHECKING:
    from mezzotint.cli.command_options import Commands

_EXAMPLES = """\
  mezzotint models set flux1-dev --vae ~/ComfyUI/models/vae/ae.safetensors
  mezzotint models set flux1-dev --text-encoder clip_l.safetensors --text-encoder t5xxl_fp16.safetensors
  mezzotint models set flux1-dev --vae auto
  mezzotint models set sdxl-base --vae sdxl-vae-fp16-fix.safetensors

Text encoders can be chosen for a transformer in a file of its own; a VAE for every model, if it has the same shapes as
the model's own.
What is not named stays as it is. `mezzotint models inspect` shows the files in use.
"""


def add(commands: "Commands") -> None:
    """Add the command and its options."""
    parser = add_command(commands, "set", "Choose the text encoder and VAE files of a model.", set_parts, _EXAMPLES)
    parser.add_argument("model", metavar="MODEL", help="an id of `mezzotint models list`, or a path")
    parser.add_argument("--vae", metavar="FILE", help="file of its VAE, or auto: the one that is found")
    parser.add_argument(
        "--text-encoder",
        metavar="FILE",
        action="append",
        default=[],
        help="file of a text encoder, or auto: those that are found; may be repeated",
    )
    add_json(parser)
    add_models_folder(parser)


def set_parts(arguments: argparse.Namespace, context: Context) -> int:
    """Store the chosen files, then show the model."""
    from mezzotint.cli.models.models import inspect_model
    from mezzotint.library.parts import choose_parts

    catalog = context.make_catalog(arguments.models_folder)
    choose_parts(catalog, arguments.model, arguments.vae, arguments.text_encoder)
    return inspect_model(arguments, context)
