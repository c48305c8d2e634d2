"""`mezzotint generate`: generate images from a prompt."""

import argparse
import contextlib
from dataclasses import replace
from typing import TYPE_CHECKING

from mezzotint.batch.job.from_metadata import request_from_metadata
from mezzotint.batch.job.settings import request_of
from mezzotint.batch.job.styled import styled_request
from mezzotint.cli.command_options import add_command
from mezzotint.cli.context import PARTLY_DONE, Context
from mezzotint.cli.generate_options import EXAMPLES, add_generate_options, options_of
from mezzotint.cli.output_target import resolved_output
from mezzotint.cli.reporter import OutputFormat, Reporter
from mezzotint.errors import Cancelled, MezzotintError, ModelRefused, StorageError, UnknownModel
from mezzotint.options import Options
from mezzotint.protocol import GenerateRequest, ModelRef

if TYPE_CHECKING:
    from mezzotint.catalog import Catalog
    from mezzotint.cli.command_options import Commands


def add(commands: "Commands") -> None:
    """Add the command and its options."""
    add_generate_options(add_command(commands, "generate", "Generate images from a prompt.", run, EXAMPLES))


def run(arguments: argparse.Namespace, context: Context) -> int:
    """Generate the images."""
    if arguments.save_job is not None:
        return _generate(arguments, context)
    with resolved_output(arguments, context, arguments.count or 1):
        return _generate(arguments, context)


def _generate(arguments: argparse.Namespace, context: Context) -> int:
    options = options_of(arguments)
    if options.prompt is None and arguments.from_image is None:
        request_of(options)  # raises for the missing prompt before models are searched
    catalog = context.make_catalog(arguments.models_folder)
    request = build_request(options, arguments, catalog, context)
    if arguments.save_job is not None:
        from mezzotint.cli.batch.save_job import save_request

        return save_request(request, arguments.save_job, context)
    output_format: OutputFormat = "json" if arguments.json else "jsonl" if arguments.jsonl else "paths"
    with contextlib.closing(context.make_engine(catalog)) as engine, Reporter(context, output_format) as reporter:
        try:
            result = engine.generate(request, reporter.on_event, context.interrupt.stop_requested)
        except Cancelled:
            raise
        except MezzotintError as error:
            if reporter.saved:
                error.exit_code = PARTLY_DONE
                context.terminal.message(f"{reporter.saved} of {request.count} images were saved")
            raise
    reporter.finish(result)
    return 0


def build_request(
    options: Options, arguments: argparse.Namespace, catalog: "Catalog", context: Context
) -> GenerateRequest:
    """Build the request from the options, on top of the metadata of the `--from` image if there is one."""
    if arguments.from_image is None:
        return styled_request(options)
    metadata = context.read_metadata(arguments.from_image)

    def is_model(name: str) -> bool:
        if options.model is not None:
            return False  # the image's model is overridden anyway
        try:
            return catalog.find(ModelRef(id=name)).info.problem is None
        except (UnknownModel, ModelRefused, StorageError):
            return False

    base = request_from_metadata(metadata, str(arguments.from_image), is_model, context.terminal.message)
    if metadata.request is None and options.init is not None and options.strength is None:
        base = _with_strength(base, metadata.strength)
    return styled_request(options, base)


def _with_strength(base: GenerateRequest, strength: float | None) -> GenerateRequest:
    return replace(base, strength=strength if strength is not None and 0 <= strength <= 1 else None)
