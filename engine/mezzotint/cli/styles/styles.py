"""`mezzotint styles`: list, save, import and remove styles."""

import argparse
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from mezzotint.checkpoints.plain_text import plain
from mezzotint.cli.columns import columns
from mezzotint.cli.command_options import add_command, add_json
from mezzotint.cli.context import Context
from mezzotint.errors import UsageError
from mezzotint.library_protocol import Style

if TYPE_CHECKING:
    from mezzotint.cli.command_options import Commands

_SAVE_EXAMPLES = """\
  mezzotint styles save harbour --from harbour.png --prompt "{prompt}, in a harbour at dusk"
  mezzotint generate "a lighthouse" --style harbour
"""


def add(commands: "Commands") -> None:
    """Add the command and its subcommands."""
    below = add_command(commands, "styles", "List, save, import and remove styles.").add_subparsers(
        title="commands", metavar="COMMAND", dest="styles_command", required=True
    )
    add_json(add_command(below, "list", "List all styles with what they set.", list_all))
    saving = add_command(below, "save", "Save the settings of an image as a style.", save, _SAVE_EXAMPLES)
    saving.add_argument("name", metavar="NAME")
    saving.add_argument("--from", dest="image", metavar="IMAGE", type=Path, required=True, help="the image")
    saving.add_argument("--prompt", metavar="TEXT", help="{prompt} stands for that of later images (default: none)")
    saving.add_argument("--replace", action="store_true", help="replace a style of that name")
    importing = add_command(
        below, "import", "Add the styles of a styles.csv of A1111 or a .json of Fooocus or SD.Next.", read
    )
    importing.add_argument("file", metavar="FILE", type=Path)
    removing = add_command(below, "remove", "Remove one of your styles.", remove)
    removing.add_argument("name", metavar="NAME")


def list_all(arguments: argparse.Namespace, context: Context) -> int:
    """Print a table of all styles."""
    from mezzotint.library.styles.store import list_styles

    found = list_styles()
    for problem in found.problems:
        context.terminal.message(f"notice: {plain(problem, 500)}")
    if arguments.json:
        context.terminal.json({"styles": found.styles})
    else:
        context.terminal.result(columns([("NAME", "FROM", "SETS"), *map(_row, found.styles)]))
    return 0


def _row(style: Style) -> tuple[str, ...]:
    settings = ", ".join(f"{name} {plain(value, 40)}" for name, value in style.settings.items())
    sets = "; ".join(filter(None, (style.prompt, settings)))
    return plain(style.name), "own" if style.own else "bundled", plain(sets)


def save(arguments: argparse.Namespace, context: Context) -> int:
    """Save the settings of one of our images."""
    from mezzotint.library.styles.methods import style_of
    from mezzotint.library.styles.store import save_style

    request = context.read_metadata(arguments.image).request
    if request is None:
        raise UsageError(f"{plain(arguments.image, 300)} was not made by Mezzotint: it has no settings to save")
    style = style_of(replace(request, seed=None, count=1))
    named = replace(style, name=arguments.name, prompt=arguments.prompt or "", picture=str(arguments.image))
    saved = save_style(named, replaces=arguments.replace)
    context.terminal.result(plain(saved.name))
    return 0


def read(arguments: argparse.Namespace, context: Context) -> int:
    """Import a file of another program."""
    from mezzotint.library.styles.importing import import_styles

    found = import_styles(arguments.file)
    for notice in found.notices:
        context.terminal.message(f"notice: {plain(notice, 1000)}")
    for name, used in found.renamed.items():
        context.terminal.message(f"notice: {plain(name)} is taken by other settings: imported as {plain(used)}")
    context.terminal.result(f"{len(found.added)} styles added, {found.unchanged} unchanged")
    return 0


def remove(arguments: argparse.Namespace, context: Context) -> int:
    """Remove a style."""
    from mezzotint.library.styles.store import remove_style

    remove_style(arguments.name)
    context.terminal.result(f"removed {plain(arguments.name)}")
    return 0
