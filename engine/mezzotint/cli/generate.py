"""`mezzotint generate`: generate images from a prompt."""

import argparse
import contextlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mezzotint.batch.job.from_metadata import Installed, request_from_metadata
from mezzotint.batch.job.settings import request_of
from mezzotint.batch.job.styled import styled_request
from mezzotint.cli.command_options import add_command
from mezzotint.cli.context import PARTLY_DONE, Context
from mezzotint.cli.generate_options import EXAMPLES, add_generate_options, options_of
from mezzotint.cli.output_target import resolved_output
from mezzotint.cli.reporter import OutputFormat, Reporter
from mezzotint.errors import Cancelled, MezzotintError, ModelRefused, StorageError, UnknownModel
from mezzotint.library.recorded_files import RecordedFiles
from mezzotint.option import declared
from mezzotint.options import Options
from mezzotint.protocol import GenerateRequest, Inpaint, ModelRef

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

    given = {"has_init": options.init is not None, "has_mask": options.mask is not None}
    installed = Installed(
        is_model=is_model,
        loras=catalog.loras,
        upscalers=catalog.upscalers,
        files=RecordedFiles(folders=(arguments.from_image.parent, Path.cwd()), catalog=lambda: catalog),
        family=lambda name: _family(options.model or name, catalog),
    )
    base = request_from_metadata(metadata, str(arguments.from_image), installed, **given).take(context.terminal.notice)
    if metadata.request is None:
        options = _with_foreign(options, base, metadata.inpaint)
    return styled_request(options, base)


def _family(model: str | None, catalog: "Catalog") -> str | None:
    try:
        return catalog.find(catalog.default() if model is None else ModelRef(id=model)).info.family
    except (UnknownModel, ModelRefused, StorageError):
        return None


def _with_foreign(options: Options, base: GenerateRequest, inpaint: Inpaint | None) -> Options:
    """The options with what another model or init image would otherwise drop of another program's settings."""
    found: dict[str, Any] = {"clip_skip": base.cascade.stages[0].sampling.clip_skip}
    if inpaint is not None and options.mask is not None:
        found |= {one.field: getattr(inpaint, name) for name, one in declared(Inpaint).items()}
    return options.replace(**{field: value for field, value in found.items() if getattr(options, field) is None})
