"""`mezzotint models`: list, inspect and download models."""

import argparse
from typing import TYPE_CHECKING

from mezzotint.checkpoints.plain_text import plain, size
from mezzotint.cli.columns import columns, facts
from mezzotint.cli.command_options import add_command, add_json, add_models_folder
from mezzotint.cli.context import Context
from mezzotint.cli.models import get as models_get
from mezzotint.cli.models import keep as models_keep
from mezzotint.cli.models import parts as models_parts
from mezzotint.cli.models import search as models_search
from mezzotint.protocol import ModelInfo, ModelRef

if TYPE_CHECKING:
    from mezzotint.cli.command_options import Commands

_HEADER = ("ID", "FAMILY", "VARIANT", "SIZE", "SOURCE", "NOTE")


def add(commands: "Commands") -> None:
    """Add the command and its subcommands."""
    below = add_command(commands, "models", "List, inspect, download and verify models.").add_subparsers(
        title="commands", metavar="COMMAND", dest="models_command", required=True
    )
    listing = add_command(below, "list", "List all models, and why some are refused.", list_models)
    inspecting = add_command(below, "inspect", "Show the details of a model.", inspect_model)
    inspecting.add_argument("model", metavar="MODEL", help="an id of `mezzotint models list`, or a path")
    listing.add_argument("--all", action="store_true", help="also those removed from the list")
    for parser in (listing, inspecting):
        add_json(parser)
        add_models_folder(parser)
    models_get.add(below)
    models_keep.add(below)
    models_parts.add(below)
    models_search.add(below)


def list_models(arguments: argparse.Namespace, context: Context) -> int:
    """Print a table of all models."""
    catalog = context.make_catalog(arguments.models_folder)
    models = catalog.models(hidden=True) if arguments.all else catalog.models()
    for notice in catalog.notices():
        context.terminal.message(f"notice: {plain(notice, 500)}")
    if arguments.json:
        context.terminal.json({"models": models})
    elif models:
        context.terminal.result(columns([_HEADER, *map(_row, models)]))
    else:
        context.terminal.message("no models were found; `mezzotint doctor` shows where they are searched for")
    return 0


def _row(model: ModelInfo) -> tuple[str, ...]:
    note = plain(model.scheme) if model.problem is None else f"refused: {plain(model.problem, 300)}"
    if model.hidden:
        note = f"hidden; {note}".removesuffix("; ")
    return (
        plain(model.id, 200),
        plain(model.family) or "-",
        plain(model.variant) or "-",
        size(model.bytes),
        plain(model.source),
        note,
    )


def inspect_model(arguments: argparse.Namespace, context: Context) -> int:
    """Print the facts of one model. Raises ModelRefused if it is refused."""
    info = context.make_catalog(arguments.models_folder).inspect(ModelRef(id=arguments.model))
    if arguments.json:
        context.terminal.json(info)
    else:
        context.terminal.result(facts(_model_rows(info)))
    return 0


def _model_rows(info: ModelInfo) -> dict[str, str]:
    rows = {
        "id": info.id,
        "path": info.path,
        "layout": info.layout,
        "family": info.family,
        "variant": info.variant,
        "size": size(info.bytes),
        "source": info.source,
    }
    if info.scheme:
        rows["scheme"] = info.scheme
    if info.prediction_type:
        rows["prediction"] = f"{info.prediction_type} ({info.prediction_reason})"
    for part in info.parts:
        layers = ", ".join(f"{count} {precision}" for precision, count in part.layers.items())
        file = f", from {part.file} ({'chosen' if part.chosen else 'automatic'})" if part.file else ""
        trunk = f", built on {part.trunk}" if part.trunk else ""
        rows[part.name] = f"{size(part.bytes)}: {layers}{file}{trunk}"
    if info.defaults is not None:
        best = info.defaults
        rows["defaults"] = f"{best.width}x{best.height}, {best.steps} steps, guidance {best.guidance_scale:g}"
    for number, notice in enumerate(info.notices):
        rows["notice" if not number else f"notice {number + 1}"] = notice
    return rows
