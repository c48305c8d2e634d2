"""`mezzotint remove-background`: make the background of images transparent."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from mezzotint.checkpoints.plain_text import plain
from mezzotint.cli.command_options import add_command, add_models_folder
from mezzotint.cli.context import Context
from mezzotint.cli.images.each_image import add_formats, add_images, each_image, images_of, list_names, output_format
from mezzotint.cli.reporter import Reporter
from mezzotint.library_protocol import BackgroundRemoved, BackgroundRequest
from mezzotint.protocol import Output

if TYPE_CHECKING:
    from mezzotint.cli.command_options import Commands

_EXAMPLES = """\
  mezzotint models get onnx-community/BiRefNet_lite-ONNX
  mezzotint remove-background house.png
  mezzotint remove-background photos -o cutouts/ --model isnet-general-use.onnx

Networks are ONNX files such as BiRefNet, ISNet or U2-Net, named by path or, in a folder background_removal, by name.
They are run on the CPU, in a process of their own, by the package onnxruntime: pip install "mezzotint[background]".
"""


def add(commands: "Commands") -> None:
    """Add the command and its options."""
    parser = add_command(commands, "remove-background", "Make the background of images transparent.", run, _EXAMPLES)
    add_images(parser, "NAME-cutout.png")
    parser.add_argument("--model", metavar="NAME|FILE", help="the network (default: the first found)")
    parser.add_argument("--list", action="store_true", help="list the networks found")
    add_formats(parser)
    add_models_folder(parser)


def run(arguments: argparse.Namespace, context: Context) -> int:
    """Remove the backgrounds, or list the networks."""
    catalog = context.make_catalog(arguments.models_folder)
    if arguments.list:
        return list_names("networks", catalog.backgrounds(), arguments, context)
    engine = context.make_engine(catalog)

    def make(path: Path, reporter: Reporter) -> BackgroundRemoved:
        output = Output(path=arguments.output, overwrite=arguments.overwrite)
        request = BackgroundRequest(path=str(path), model=arguments.model, output=output)
        made = engine.remove_background(request, reporter.on_event, context.interrupt.stop_requested)
        if output_format(arguments) == "paths":
            context.terminal.result(plain(made.path, 4096))
        return made

    return each_image(images_of(arguments), arguments, context, engine, make)
