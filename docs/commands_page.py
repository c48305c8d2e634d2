"""What pages need that is no page: the commands as `--help` prints them, and the images of the window."""

import argparse
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

from mezzotint.cli.parser import make_parser


def on_files(files: Files, config: Any) -> Files:  # noqa: ANN401  MkDocsConfig, which has no types of its own
    """Add commands.md, which is no file, and images, which lie elsewhere."""
    files.append(File.generated(config, "commands.md", content=page(make_parser())))
    assets = Path(config.config_file_path).parent / "assets"
    for path in sorted((*assets.glob("screenshots/*.webp"), *assets.glob("samples/*.png"))):
        files.append(File.generated(config, f"{path.parent.name}/{path.name}", abs_src_path=str(path)))
    return files


def page(parser: argparse.ArgumentParser) -> str:
    """A heading for each command, with its help as it is printed."""
    lines = ["# Commands", "", "What each command prints with `--help`."]
    for name, command in commands(parser):
        lines += ["", f"{'#' * min(4, 1 + len(name.split()))} {name}", "", "```text", help_of(command), "```"]
    return "\n".join([*lines, ""])


def commands(parser: argparse.ArgumentParser) -> list[tuple[str, argparse.ArgumentParser]]:
    """A command and those below it, by the words that call them."""
    found = [(parser.prog, parser)]
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for below in dict.fromkeys(action.choices.values()):
                found += commands(below)
    return found


def help_of(parser: argparse.ArgumentParser) -> str:
    """As in a terminal of 100 columns, without colours."""
    parser.formatter_class = _fixed(parser.formatter_class)
    return parser.format_help().strip()


def _fixed(formatter: Any) -> Any:  # noqa: ANN401  a class, or a function that makes one
    def made(prog: str, **arguments: Any) -> Any:  # noqa: ANN401
        return formatter(prog, **{**arguments, "width": 100})

    return made
