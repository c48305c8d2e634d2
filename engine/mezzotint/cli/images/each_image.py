"""Commands that make a copy of each image: which images, one after the other, and what is told of them."""

import argparse
import contextlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from mezzotint.batch.tasks.skipped import IMAGE_SUFFIXES
from mezzotint.checkpoints.plain_text import plain
from mezzotint.cli.context import PARTLY_DONE, Context
from mezzotint.cli.output_target import output_of_several, resolved_output
from mezzotint.cli.reporter import OutputFormat, Reporter
from mezzotint.codec import encode
from mezzotint.errors import Cancelled, MezzotintError, UsageError

if TYPE_CHECKING:
    from mezzotint.engine import Engine

T = TypeVar("T")


def add_images(parser: argparse.ArgumentParser, result: str) -> None:
    """Add the images and where their copies go; `result`: the name of one, with NAME for the image's."""
    parser.add_argument("images", metavar="IMAGE", type=Path, nargs="*", help="an image, or a folder of them")
    parser.add_argument(
        "-o",
        "--output",
        metavar="PATH",
        help=f"a folder, a file name, or - for standard output (default: next to the image, as {result})",
    )
    parser.add_argument("--overwrite", action="store_true", help="replace a file that exists")


def add_formats(parser: argparse.ArgumentParser) -> None:
    """Add how much is printed, and as what."""
    parser.add_argument("-q", "--quiet", action="store_true", help="print only results and errors, no progress")
    output = parser.add_mutually_exclusive_group()
    output.add_argument("--json", action="store_true", help="print the result as JSON")
    output.add_argument("--jsonl", action="store_true", help="print events and the result as JSON, one object a line")


def images_of(arguments: argparse.Namespace) -> list[Path]:
    """The images named, and those in folders named; raises UsageError for none, or what cannot be told of them."""
    paths = list(_images(arguments.images, arguments.command))
    if arguments.jsonl and len(paths) > 1:
        raise UsageError(f"--jsonl tells of one image, but there are {len(paths)}; use --json")
    if len(paths) > 1 or any(path.is_dir() for path in arguments.images):
        arguments.output = output_of_several(arguments.output, len(paths))
    return paths


def each_image(
    paths: Sequence[Path],
    arguments: argparse.Namespace,
    context: Context,
    engine: "Engine",
    make: Callable[[Path, Reporter], T],
) -> int:
    """Make all copies and print them; one that fails stops no other. Raises the last failure."""
    with resolved_output(arguments, context, len(paths)):
        done = made_of_each(paths, context, engine, output_format(arguments), make)
    if arguments.json:
        context.terminal.json({"images": done})
    if arguments.jsonl:
        context.terminal.json({"result": encode(done[-1])})
    return 0


def made_of_each(
    paths: Sequence[Path],
    context: Context,
    engine: "Engine",
    output: OutputFormat,
    make: Callable[[Path, Reporter], T],
) -> list[T]:
    """Make something of each file; one that fails stops no other. Raises the last failure."""
    done: list[T] = []
    failures: list[MezzotintError] = []
    with contextlib.closing(engine), Reporter(context, output) as reporter:
        for path in paths:
            try:
                done.append(make(path, reporter))
            except Cancelled:
                raise
            except MezzotintError as error:
                failures.append(error)
                if path != paths[-1]:
                    context.terminal.failure(f"error: {error}")
    if failures:
        failures[-1].exit_code = PARTLY_DONE if done else failures[-1].exit_code
        raise failures[-1]
    return done


def output_format(arguments: argparse.Namespace) -> OutputFormat:
    """As what results are printed."""
    return "json" if arguments.json else "jsonl" if arguments.jsonl else "paths"


def list_names(kind: str, names: Sequence[str], arguments: argparse.Namespace, context: Context) -> int:
    """Print the names of networks, one a line or as JSON. Raises UsageError for images, of which nothing is made."""
    if arguments.images:
        raise UsageError("--list lists what is found and makes nothing: leave the images out, or --list")
    if arguments.json:
        context.terminal.json({kind: list(names)})
    else:
        for name in names:
            context.terminal.result(plain(name, 200))
    return 0


def _images(given: Sequence[Path], command: str) -> Iterator[Path]:
    if not given:
        raise UsageError(f"which image? `mezzotint {command} IMAGE`, or `--list` for the networks found")
    for path in given:
        if not path.is_dir():
            yield path
            continue
        found = sorted(each for each in path.iterdir() if each.suffix.lower() in IMAGE_SUFFIXES)
        if not found:
            raise UsageError(f"{plain(path, 300)} contains no images")
        yield from found
