"""`mezzotint decode`: decode saved latents of jobs that ended before or during VAE decoding."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from mezzotint import paths
from mezzotint.checkpoints.plain_text import plain
from mezzotint.cli.argument_types import integer
from mezzotint.cli.command_options import add_command, add_json, add_models_folder
from mezzotint.cli.context import Context
from mezzotint.cli.images.each_image import made_of_each
from mezzotint.cli.output_target import output_of_several, resolved_output
from mezzotint.cli.reporter import Reporter
from mezzotint.errors import UsageError
from mezzotint.protocol import DecodeRequest, Dtype, GeneratedImage, Output

if TYPE_CHECKING:
    from mezzotint.cli.command_options import Commands

_EXAMPLES = """\
  mezzotint decode
  mezzotint decode --all
  mezzotint decode sunset-7-0.latents.safetensors -o sunset.png

Latents are on disk while they are decoded. A job that ends there, out of memory or in a power failure, loses nothing:
without FILE, the latents of such jobs are listed.
"""


def add(commands: "Commands") -> None:
    """Add the command and its options."""
    parser = add_command(commands, "decode", "Finish images whose job ended during decoding.", run, _EXAMPLES)
    parser.add_argument(
        "files", metavar="FILE", type=Path, nargs="*", help="saved latents (default: list those of unfinished jobs)"
    )
    parser.add_argument("--all", action="store_true", help="finish all unfinished images")
    parser.add_argument(
        "-o",
        "--output",
        metavar="PATH",
        help="a folder, a file name or one with [tokens], or - for standard output (default: the job's output path)",
    )
    parser.add_argument("--overwrite", action="store_true", help="replace a file that exists")
    parser.add_argument("--device", metavar="NAME", default="auto", help="auto, cpu, cuda, xpu, mps (default: auto)")
    parser.add_argument("--dtype", choices=get_args(Dtype), default="auto", help="default: as in the job")
    parser.add_argument(
        "--vae-tile",
        metavar="PIXELS",
        type=integer(0, 4096, 512),
        help="decode in tiles of this size, in less memory; 0: whole (default: as in the job)",
    )
    parser.add_argument("-q", "--quiet", action="store_true", help="print only results and errors, no progress")
    add_json(parser)
    add_models_folder(parser)


def run(arguments: argparse.Namespace, context: Context) -> int:
    """Decode the given latents, or list the pending ones."""
    waiting = _waiting(arguments.all, context)
    files = [*arguments.files, *(waiting if arguments.all else [])]
    if not files:
        if arguments.output is not None and not arguments.all:
            raise UsageError("-o needs to know of what: name the saved latents, or add --all")
        _list(waiting, arguments, context)
        return 0
    if len(files) > 1:
        arguments.output = output_of_several(arguments.output, len(files))
    engine = context.make_engine(context.make_catalog(arguments.models_folder))

    def decoded(path: Path, reporter: Reporter) -> GeneratedImage:
        return engine.decode(_request(arguments, path), reporter.on_event, context.interrupt.stop_requested)

    with resolved_output(arguments, context, len(files)):
        done = made_of_each(files, context, engine, "json" if arguments.json else "paths", decoded)
    if arguments.json:
        context.terminal.json({"images": done})
    return 0


def _waiting(removes: bool, context: Context) -> list[Path]:
    """The latents of images that are not there; with `removes`, those of images that are there are deleted."""
    from mezzotint.stages.images.pending_decode import is_saved, undecoded

    found = undecoded(paths.undecoded_folder())
    saved = [path for path in found if is_saved(path)]
    for path in saved if removes else ():
        path.unlink(missing_ok=True)
        context.terminal.message(f"notice: the image of {plain(path.name)} is there: its latents are removed")
    return [path for path in found if path not in saved]


def _request(arguments: argparse.Namespace, path: Path) -> DecodeRequest:
    return DecodeRequest(
        path=str(path),
        device=arguments.device,
        dtype=arguments.dtype,
        vae_tile=arguments.vae_tile,
        output=Output(path=arguments.output, overwrite=arguments.overwrite),
    )


def _list(waiting: list[Path], arguments: argparse.Namespace, context: Context) -> None:
    if arguments.json:
        context.terminal.json({"undecoded": [str(path) for path in waiting]})
        return
    for path in waiting:
        context.terminal.result(plain(str(path), 4096))
    if waiting:
        context.terminal.message(f"{len(waiting)} to finish: mezzotint decode --all")
    else:
        context.terminal.message("nothing is waiting to be decoded")
