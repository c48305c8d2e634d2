"""`mezzotint control`: make control images of images."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from mezzotint.catalog.looking import RECOMMENDED, Purpose
from mezzotint.checkpoints.plain_text import plain
from mezzotint.cli.command_options import add_command, add_models_folder
from mezzotint.cli.context import Context
from mezzotint.cli.images.each_image import add_formats, add_images, each_image, images_of, list_names, output_format
from mezzotint.cli.reporter import Reporter
from mezzotint.control_protocol import ControlImageMade, ControlImageRequest, Preprocess
from mezzotint.errors import UsageError

if TYPE_CHECKING:
    from mezzotint.cli.command_options import Commands

_WAYS = [how for how in get_args(Preprocess) if how != "none"]
_EXAMPLES = f"""\
  mezzotint control photo.jpg --preprocess canny
  mezzotint models get {RECOMMENDED["depth"]}
  mezzotint control photo.jpg --preprocess depth -o depth.png
  mezzotint control photos --preprocess pose -o poses/

canny, lines, scribble, gray and tile need nothing; depth needs a network, and pose two, which `models get` downloads:
{RECOMMENDED["detection"]} finds people and {RECOMMENDED["pose"]} their joints. The result is used with
`mezzotint generate --control FILE,model=...`; with preprocess=... there, it is made for each image anew.
"""


def add(commands: "Commands") -> None:
    """Add the command and its options."""
    parser = add_command(commands, "control", "Make control images: edges, contours, depth, poses.", run, _EXAMPLES)
    add_images(parser, "NAME-depth.png")
    parser.add_argument("--preprocess", choices=_WAYS, help="what is made of the image")
    parser.add_argument("--list", action="store_true", help="list the networks found")
    parser.add_argument("--device", metavar="NAME", default="auto", help="auto, cpu, cuda, xpu, mps (default: auto)")
    add_formats(parser)
    add_models_folder(parser)


def run(arguments: argparse.Namespace, context: Context) -> int:
    """Make the control images, or list the networks."""
    catalog = context.make_catalog(arguments.models_folder)
    if arguments.list:
        purposes: tuple[Purpose, ...] = ("detection", "depth", "pose")
        names = [f"{name} ({purpose})" for purpose in purposes for name in catalog.looking(purpose)]
        return list_names("networks", names, arguments, context)
    if arguments.preprocess is None:
        raise UsageError(f"what is to be made? add --preprocess with one of {', '.join(_WAYS)}")
    engine = context.make_engine(catalog)

    def make(path: Path, reporter: Reporter) -> ControlImageMade:
        request = ControlImageRequest(
            path=str(path),
            preprocess=arguments.preprocess,
            output=arguments.output,
            overwrite=arguments.overwrite,
            device=arguments.device,
        )
        made = engine.prepare_control(request, reporter.on_event, context.interrupt.stop_requested)
        if output_format(arguments) == "paths":
            context.terminal.result(plain(made.path, 4096))
        return made

    return each_image(images_of(arguments), arguments, context, engine, make)
