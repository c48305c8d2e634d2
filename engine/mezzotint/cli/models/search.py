"""`mezzotint models search`: find models on the Hugging Face hub by name."""

import argparse
from typing import TYPE_CHECKING

from mezzotint.checkpoints.plain_text import size
from mezzotint.cli.columns import columns
from mezzotint.cli.command_options import add_command, add_json
from mezzotint.cli.context import Context
from mezzotint.protocol import HubModel, HubSearch

if TYPE_CHECKING:
    from mezzotint.cli.command_options import Commands

_HEADER = ("ID", "FAMILY", "LICENCE", "DOWNLOADS", "REPOSITORY")


def add(commands: "Commands") -> None:
    """Add the command and its options."""
    parser = add_command(commands, "search", "Search the Hugging Face hub by name; downloads nothing.", search_models)
    parser.add_argument("name", metavar="WORDS", help="words of the name, such as 'sdxl turbo'")
    add_json(parser)


def search_models(arguments: argparse.Namespace, context: Context) -> int:
    """Print what was found: most downloaded first, models that cannot be run last."""
    from mezzotint.library.hub_search import search_hub

    found = search_hub(HubSearch(words=arguments.name), context.interrupt.stop_requested)
    if arguments.json:
        context.terminal.json({"models": found})
    elif found:
        context.terminal.result(columns([_HEADER, *map(_row, found)]))
        context.terminal.message("`mezzotint models get ID` shows what would be downloaded, and asks")
    else:
        context.terminal.message("no image models with these words in their names; try fewer words")
    return 0


def _row(model: HubModel) -> tuple[str, ...]:
    return (
        model.id,
        "not supported" if model.runs is False else model.family or "-",
        f"{model.licence}{'; gated' if model.gated else ''}",
        "-" if model.downloads is None else f"{model.downloads:,}",
        "-" if model.bytes is None else size(model.bytes),
    )
