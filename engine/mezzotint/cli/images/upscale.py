"""`mezzotint upscale`: enlarge images by an upscaler."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from mezzotint.checkpoints.plain_text import plain
from mezzotint.cli.argument_types import argument, card_memory, integer
from mezzotint.cli.command_options import add_command, add_models_folder
from mezzotint.cli.context import Context
from mezzotint.cli.images.each_image import add_formats, add_images, each_image, images_of, list_names, output_format
from mezzotint.cli.images.second_pass import add_second_pass_options, check_second_pass, second_pass_request
from mezzotint.cli.reporter import Reporter
from mezzotint.library_protocol import BUNDLED_UPSCALER, MOST_SCALE, UpscaledImage, UpscaleRequest
from mezzotint.protocol import Dtype, GenerateResult, Output
from mezzotint.values.basic import Number

if TYPE_CHECKING:
    from mezzotint.cli.command_options import Commands

_EXAMPLES = """\
  mezzotint upscale house.png
  mezzotint upscale photos --upscaler 4x-UltraSharp --scale 2 -o large/
  mezzotint upscale house.png --upscaler RealESRGAN_x4plus.pth --vram-limit 4GB
  mezzotint upscale house.png --scale 4 --strength 0.3
  mezzotint upscale --list

Upscalers are safetensors or .pth files, named by path or, in a folder upscale_models (ComfyUI) or ESRGAN (A1111), by
name. All kinds but one need the package spandrel: pip install "mezzotint[upscale]".
"""


def add(commands: "Commands") -> None:
    """Add the command and its options."""
    parser = add_command(
        commands, "upscale", "Enlarge images by an upscaler, in tiles that fit the GPU.", run, _EXAMPLES
    )
    add_images(parser, "NAME-2x")
    parser.add_argument(
        "--upscaler",
        metavar="NAME|FILE",
        default=BUNDLED_UPSCALER,
        help=f"default: {BUNDLED_UPSCALER}, the bundled one",
    )
    parser.add_argument("--list", action="store_true", help="list the upscalers found")
    parser.add_argument(
        "--scale",
        metavar="SCALE",
        type=argument(Number(1, MOST_SCALE, 2)),
        help="of each side (default: the upscaler's own)",
    )
    add_second_pass_options(parser)
    parser.add_argument("--device", metavar="NAME", default="auto", help="auto, cpu, cuda, xpu, mps (default: auto)")
    parser.add_argument("--dtype", choices=get_args(Dtype), default="auto", help="default: 16 bits on a GPU")
    parser.add_argument(
        "--tile", metavar="PIXELS", type=integer(64, 1024, 512), help="side of the tiles (default: as memory allows)"
    )
    parser.add_argument(
        "--vram-limit",
        type=card_memory,
        default=(None, None),
        metavar="SIZE|CARD",
        help="use at most this much VRAM; on a CPU a card of that size is simulated",
    )
    add_formats(parser)
    add_models_folder(parser)


def run(arguments: argparse.Namespace, context: Context) -> int:
    """Enlarge the images, or list the upscalers."""
    catalog = context.make_catalog(arguments.models_folder)
    if arguments.list:
        return list_names("upscalers", catalog.upscalers(), arguments, context)
    paths = images_of(arguments)
    check_second_pass(arguments)
    engine = context.make_engine(catalog)

    def make(path: Path, reporter: Reporter) -> UpscaledImage | GenerateResult:
        on_event, cancelled = reporter.on_event, context.interrupt.stop_requested
        if arguments.strength is not None:
            return engine.generate(second_pass_request(arguments, path, context), on_event, cancelled)
        made = engine.upscale(_request(arguments, path), on_event, cancelled)
        if output_format(arguments) == "paths":  # of a generated image it is told as it is saved
            context.terminal.result(plain(made.path, 4096))
        return made

    return each_image(paths, arguments, context, engine, make)


def _request(arguments: argparse.Namespace, path: Path) -> UpscaleRequest:
    return UpscaleRequest(
        path=str(path),
        upscaler=arguments.upscaler,
        scale=arguments.scale,
        tile=arguments.tile,
        device=arguments.device,
        dtype=arguments.dtype,
        vram_limit_bytes=arguments.vram_limit[0],
        output=Output(path=arguments.output, overwrite=arguments.overwrite),
    )
