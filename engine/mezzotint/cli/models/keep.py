"""`mezzotint models verify`, `add` and `remove`: check a model's files, and edit the list of models and folders."""

import argparse
from typing import TYPE_CHECKING

from mezzotint.checkpoints.plain_text import plain
from mezzotint.cli.columns import columns
from mezzotint.cli.command_options import add_command, add_json, add_models_folder
from mezzotint.cli.context import Context
from mezzotint.cli.reporter import Reporter
from mezzotint.errors import ModelRefused
from mezzotint.library_protocol import ModelPlace
from mezzotint.protocol import ModelRef

if TYPE_CHECKING:
    from mezzotint.cli.command_options import Commands

_AGAINST = {
    "checksums": "checked against its published checksums",
    "structure": "checked by the structure of its files, since no checksums are known",
}
_ADD_EXAMPLES = """\
  mezzotint models add /data/models
  mezzotint models add ~/ComfyUI                  # all its checkpoints, where they are
  mezzotint models add ~/ComfyUI/extra_model_paths.yaml
  mezzotint models add starter-xl                 # lists a removed model again
"""
_REMOVE_EXAMPLES = """\
  mezzotint models remove /data/models
  mezzotint models remove old-model               # it can still be named, and `models list --all` shows it

No file is deleted.
"""


def add(commands: "Commands") -> None:
    """Add the three commands."""
    verifying = add_command(
        commands, "verify", "Check a model's files against their published checksums.", verify_model
    )
    verifying.add_argument("model", metavar="MODEL", help="an id of `mezzotint models list`, or a path")
    verifying.add_argument("-q", "--quiet", action="store_true", help="print only results and errors, no progress")
    adding = add_command(commands, "add", "Add a folder to search for models.", add_place, _ADD_EXAMPLES)
    adding.add_argument("what", metavar="PATH", help="a folder, or the id of a model that was removed")
    removing = add_command(
        commands, "remove", "Remove a folder or a model from the list; nothing is deleted.", remove, _REMOVE_EXAMPLES
    )
    removing.add_argument("what", metavar="PATH", help="a folder that was added, or the id of a model")
    for parser in (verifying, adding, removing):
        add_json(parser)
        add_models_folder(parser)


def verify_model(arguments: argparse.Namespace, context: Context) -> int:
    """Verify every file of a model; returns the exit code of ModelRefused if one is damaged."""
    from mezzotint.library.verify import verify

    with Reporter(context, "json") as reporter:
        found = verify(
            ModelRef(id=arguments.model),
            context.make_catalog(arguments.models_folder),
            reporter.on_event,
            context.interrupt.stop_requested,
        )
    if arguments.json:
        context.terminal.json(found)
    else:
        state = "OK" if found.ok else "damaged"
        context.terminal.result(f"{plain(found.model, 300)}: {state}, {_AGAINST[found.checked_against]}")
    for problem in found.problems:
        context.terminal.error(ModelRefused(problem))
    return 0 if found.ok else ModelRefused.exit_code


def add_place(arguments: argparse.Namespace, context: Context) -> int:
    """Add a folder or relist a model, then show the searched folders."""
    from mezzotint.library.places import add_place, is_hidden, unhide_model

    catalog = context.make_catalog(arguments.models_folder)
    if is_hidden(catalog, arguments.what):
        unhide_model(catalog, arguments.what)
        context.terminal.message(f"{plain(arguments.what, 200)} is on the list again")
    else:
        add_place(arguments.what)
    return _show(arguments, context)


def remove(arguments: argparse.Namespace, context: Context) -> int:
    """Remove a folder or unlist a model, then show the searched folders."""
    from mezzotint.library.places import hide_model, is_own_place, remove_place

    if is_own_place(arguments.what):
        remove_place(arguments.what)
    else:
        hide_model(context.make_catalog(arguments.models_folder), arguments.what)
        context.terminal.message(f"{plain(arguments.what, 200)} is removed from the list; its files are unchanged")
    return _show(arguments, context)


def _show(arguments: argparse.Namespace, context: Context) -> int:
    from mezzotint.library.places import list_places

    places = list_places(arguments.models_folder)
    if arguments.json:
        context.terminal.json({"places": places})
    else:
        context.terminal.result(columns([("SEARCHED", "KIND", "NOTE"), *map(_row, places)]))
    return 0


def _row(place: ModelPlace) -> tuple[str, ...]:
    note = plain(place.problem, 200) if place.problem else "added by you" if place.own else ""
    return plain(place.path, 300), plain(place.source), note
