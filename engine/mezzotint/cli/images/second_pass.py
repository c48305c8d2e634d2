"""`mezzotint upscale --strength`: after the upscaler a model adds detail, in tiles; a job of its own."""

import argparse
from dataclasses import replace
from pathlib import Path

from mezzotint.batch.job.from_metadata import Installed, request_from_metadata
from mezzotint.batch.job.settings import request_of
from mezzotint.cli.context import Context
from mezzotint.cli.generate_options import add_option
from mezzotint.errors import UsageError
from mezzotint.images.naming import enlarged_path
from mezzotint.jobs.requests import enlarging_request
from mezzotint.library.recorded_files import RecordedFiles
from mezzotint.options import OPTIONS, Options
from mezzotint.protocol import Cascade, GenerateRequest, Output

_OPTIONS = ("prompt", "model", "negative", "seed", "steps")
_SCALE = 2.0  # by default


def add_second_pass_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the second pass."""
    group = parser.add_argument_group(
        "second pass", "with --strength: a model adds detail in tiles, as far as possible the one that made the image"
    )
    for name in ("strength", *_OPTIONS):
        add_option(group, name)
    group.add_argument("--tile-control", metavar="FILE", help="a ControlNet for tiles, which keeps what tiles show")


def check_second_pass(arguments: argparse.Namespace) -> None:
    """Raise UsageError for options that only a second pass has."""
    given = [name for name in _OPTIONS if getattr(arguments, OPTIONS[name].field) is not None]
    given += ["tile-control"] if arguments.tile_control is not None else []
    if arguments.strength is None and given:
        raise UsageError(f"--{given[0]} is for a second pass: add --strength, such as 0.3")
    if arguments.strength is not None and arguments.tile is not None:
        raise UsageError("--tile is for an upscaler alone: leave it or --strength out")


def second_pass_request(arguments: argparse.Namespace, path: Path, context: Context) -> GenerateRequest:
    """The request to enlarge an image, by the model and words in its metadata unless others are given."""
    from mezzotint.stages.images.input_images import image_size

    scale = arguments.scale or _SCALE
    width, height = image_size(path)
    made = enlarging_request(
        _base(arguments, path, context),
        str(path),
        (round(width * scale), round(height * scale)),
        upscaler=arguments.upscaler,
        strength=arguments.strength,
        control=arguments.tile_control,
    )
    target = enlarged_path(Output(path=arguments.output), path, scale)
    return replace(
        made,
        device=arguments.device,
        dtype=arguments.dtype,
        vram_limit_bytes=arguments.vram_limit[0],
        output=Output(path=str(target).replace("[", "[["), overwrite=arguments.overwrite),
    )


def _base(arguments: argparse.Namespace, path: Path, context: Context) -> GenerateRequest:
    said = {OPTIONS[name].field: getattr(arguments, OPTIONS[name].field) for name in _OPTIONS}
    metadata = context.read_metadata(path)
    if metadata.request is None and metadata.prompt is None:
        return request_of(Options(**said | {"prompt": said["prompt"] or ""}))
    made_once = replace(metadata, hires_scale=None, hires_steps=None, hires_upscaler=None, refiner=None, inpaint=None)
    installed = Installed(files=RecordedFiles(folders=(path.parent, Path.cwd())))
    base = request_from_metadata(made_once, str(path), installed, has_init=True).take(context.terminal.notice)
    return request_of(Options(**said), replace(base, cascade=Cascade(stages=base.cascade.stages[:1])))
