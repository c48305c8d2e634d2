"""What `-o` of a command that makes images means: a file, a folder, `-` for standard output, the null device."""

import argparse
import io
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mezzotint.checkpoints.plain_text import plain
from mezzotint.cli.context import Context
from mezzotint.cli.terminal import storage_errors
from mezzotint.errors import UsageError
from mezzotint.images.naming import SUFFIXES
from mezzotint.images.template import tokens_in

STANDARD_OUTPUT = "-"
_MAKES_IMAGES = ("generate", "upscale", "control", "remove-background", "decode")
NULL_DEVICES = ("/dev/null", os.devnull)


def output_of_several(output: str | None, count: int) -> str | None:
    """The output of `count` images with names of their own: a folder. Raises UsageError if it can only be one file."""
    if output is None or output in (STANDARD_OUTPUT, *NULL_DEVICES) or output.endswith(("/", os.sep)):
        return output
    if Path(output).is_dir() or tokens_in(output):
        return output
    if Path(output).suffix.lower() in SUFFIXES:
        raise UsageError(f"{count} images cannot all become {plain(output, 200)}: name a folder")
    return f"{output}/"


@contextmanager
def resolved_output(arguments: argparse.Namespace, context: Context, count: int) -> Iterator[None]:
    """Inside, images that are not to be kept go to a folder that is removed; at the end one goes to standard output."""
    if arguments.output not in (STANDARD_OUTPUT, *NULL_DEVICES):
        yield
        return
    to_stdout = arguments.output == STANDARD_OUTPUT
    if to_stdout:
        _check_stdout(arguments, context, count)
    is_json = arguments.json or getattr(arguments, "jsonl", False)
    terminal, folder = context.terminal, Path(tempfile.mkdtemp(prefix="mezzotint-"))
    stdout, terminal.stdout = terminal.stdout, terminal.stdout if is_json else io.StringIO()
    arguments.output = f"{folder}{os.sep}".replace("[", "[[")
    try:
        yield
        if to_stdout:
            with storage_errors():
                stdout.flush()
                for path in sorted(folder.iterdir()):
                    stdout.buffer.write(path.read_bytes())
                stdout.buffer.flush()
    finally:
        terminal.stdout = stdout
        shutil.rmtree(folder, ignore_errors=True)


def check_output_name(arguments: argparse.Namespace) -> None:
    """Raise UsageError for standard output or the null device where neither can be written."""
    if arguments.command in _MAKES_IMAGES:
        return
    for name in ("output", "out"):
        given = getattr(arguments, name, None)
        if given is not None and str(given) in (STANDARD_OUTPUT, *NULL_DEVICES):
            raise UsageError(f"-o {given} is for commands that make images one by one: name a file or folder")


def _check_stdout(arguments: argparse.Namespace, context: Context, count: int) -> None:
    if arguments.json or getattr(arguments, "jsonl", False):
        raise UsageError("-o - writes the image itself to standard output: leave --json and --jsonl out")
    if count != 1:
        raise UsageError(f"-o - writes one image to standard output, but {count} are made: name a folder")
    if context.terminal.stdout.isatty():
        raise UsageError("-o - would write an image to the terminal: redirect it, as in -o - > image.png")
