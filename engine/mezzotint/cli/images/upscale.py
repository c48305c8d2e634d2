"""`mezzotint upscale`: enlarge images by an upscaler."""

import argparse
import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from mezzotint.checkpoints.plain_text import plain
from mezzotint.cli.argument_types import argument, card_memory, integer
from mezzotint.cli.command_options import add_command, add_models_folder
from mezzotint.cli.context import PARTLY_DONE, Context
from mezzotint.cli.images.second_pass import add_second_pass_options, check_second_pass, second_pass_request
from mezzotint.cli.reporter import OutputFormat, Reporter
from mezzotint.codec import encode
from mezzotint.errors import Cancelled, MezzotintError, UsageError
from mezzotint.library_protocol import BUNDLED_UPSCALER, MOST_SCALE, UpscaledImage, UpscaleRequest
from mezzotint.protocol import Dtype, GenerateResult, Output
from mezzotint.values.basic import Number

if TYPE_CHECKING:
    from mezzotint.cli.command_options import Commands
    from mezzotint.engine import Engine

IMAGE_SUFFIXES = (".png", ".jpg", ".jpeg", ".webp", ".avif", ".tif", ".tiff", ".bmp", ".gif")
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
    parser.add_argument("images", metavar="IMAGE", type=Path, nargs="*", help="an image, or a folder of them")
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
    parser.add_argument(
        "-o", "--output", metavar="PATH", help="a folder or a file name (default: next to the image, as NAME-2x)"
    )
    parser.add_argument("--overwrite", action="store_true", help="replace a file that exists")
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
    parser.add_argument("-q", "--quiet", action="store_true", help="print only results and errors, no progress")
    output = parser.add_mutually_exclusive_group()
    output.add_argument("--json", action="store_true", help="print the result as JSON")
    output.add_argument("--jsonl", action="store_true", help="print events and the result as JSON, one object a line")
    add_models_folder(parser)


def run(arguments: argparse.Namespace, context: Context) -> int:
    """Enlarge the images, or list the upscalers."""
    catalog = context.make_catalog(arguments.models_folder)
    if arguments.list:
        _list(catalog.upscalers(), arguments, context)
        return 0
    paths = list(_images(arguments.images))
    _check(paths, arguments)
    done, failures = _enlarged(paths, arguments, context, context.make_engine(catalog))
    if failures:
        failures[-1].exit_code = PARTLY_DONE if done else failures[-1].exit_code
        raise failures[-1]
    if arguments.json:
        context.terminal.json({"images": done})
    if arguments.jsonl:
        context.terminal.json({"result": encode(done[-1])})
    return 0


def _check(paths: Sequence[Path], arguments: argparse.Namespace) -> None:
    check_second_pass(arguments)
    if arguments.jsonl and len(paths) > 1:
        raise UsageError(f"--jsonl tells of one image, but there are {len(paths)}; use --json")
    if arguments.output and len(paths) > 1 and Path(arguments.output).suffix and not Path(arguments.output).is_dir():
        raise UsageError(f"{len(paths)} images cannot all become {plain(arguments.output, 200)}: name a folder")


def _enlarged(
    paths: Sequence[Path], arguments: argparse.Namespace, context: Context, engine: "Engine"
) -> tuple[list[UpscaledImage | GenerateResult], list[MezzotintError]]:
    """Enlarge the images; returns those made, and why others were not."""
    done: list[UpscaledImage | GenerateResult] = []
    failures: list[MezzotintError] = []
    with contextlib.closing(engine), Reporter(context, _format(arguments)) as reporter:
        for path in paths:
            try:
                made = _made(path, arguments, context, engine, reporter)
            except Cancelled:
                raise
            except MezzotintError as error:
                failures.append(error)
                if path != paths[-1]:
                    context.terminal.message(f"error: {error}")
                continue
            done.append(made)
    return done, failures


def _made(
    path: Path, arguments: argparse.Namespace, context: Context, engine: "Engine", reporter: Reporter
) -> "UpscaledImage | GenerateResult":
    on_event, cancelled = reporter.on_event, context.interrupt.stop_requested
    if arguments.strength is not None:
        return engine.generate(second_pass_request(arguments, path, context), on_event, cancelled)
    made = engine.upscale(_request(arguments, path), on_event, cancelled)
    if _format(arguments) == "paths":  # of a generated image it is told as it is saved
        context.terminal.result(plain(made.path, 4096))
    return made


def _format(arguments: argparse.Namespace) -> OutputFormat:
    return "json" if arguments.json else "jsonl" if arguments.jsonl else "paths"


def _images(given: Sequence[Path]) -> Iterator[Path]:
    if not given:
        raise UsageError("which image? `mezzotint upscale IMAGE`, or `--list` for the upscalers found")
    for path in given:
        if not path.is_dir():
            yield path
            continue
        found = sorted(each for each in path.iterdir() if each.suffix.lower() in IMAGE_SUFFIXES)
        if not found:
            raise UsageError(f"{plain(path, 300)} contains no images")
        yield from found


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


def _list(names: Sequence[str], arguments: argparse.Namespace, context: Context) -> None:
    if arguments.json:
        context.terminal.json({"upscalers": list(names)})
        return
    for name in names:
        context.terminal.result(plain(name, 200))
