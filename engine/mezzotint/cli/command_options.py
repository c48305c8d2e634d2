"""Options shared by several commands, and the helper that adds a command."""

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from mezzotint.cli.context import Context

if TYPE_CHECKING:
    Commands = argparse._SubParsersAction[argparse.ArgumentParser]

Run = Callable[[argparse.Namespace, Context], int]


def add_command(
    commands: "Commands", name: str, summary: str, run: Run | None = None, examples: str = ""
) -> argparse.ArgumentParser:
    """Add a command; without `run`, it is a group of subcommands."""
    parser = commands.add_parser(
        name,
        help=summary[0].lower() + summary[1:].rstrip("."),
        description=summary,
        epilog=examples and f"examples:\n{examples}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    if run is not None:
        parser.set_defaults(run=run)
    return parser


def add_json(parser: argparse.ArgumentParser) -> None:
    """Add `--json`."""
    parser.add_argument("--json", action="store_true", help="print one JSON object, also for errors")


def add_models_folder(parser: argparse.ArgumentParser) -> None:
    """Add `--models-folder`."""
    parser.add_argument(
        "--models-folder",
        metavar="DIR",
        type=Path,
        action="append",
        default=[],
        help="also search this folder for models (may be repeated)",
    )
