"""Generated files of the documentation: the commands' `--help` output, and the screenshots."""

import argparse
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

from mezzotint.cli.parser import make_parser


def on_files(files: Files, config: Any) -> Files:  # noqa: ANN401  MkDocsConfig, which has no types of its own
    """Add the generated commands.md, and images from the assets folder."""
    files.append(File.generated(config, "commands.md", content=page(make_parser())))
    assets = Path(config.config_file_path).parent / "assets"
    for path in sorted((*assets.glob("screenshots/*.webp"), *assets.glob("samples/*.png"))):
        files.append(File.generated(config, f"{path.parent.name}/{path.name}", abs_src_path=str(path)))
    return files


def page(parser: argparse.ArgumentParser) -> str:
    """Return a heading per command, followed by its help output."""
    lines = ["# Commands", "", "What each command prints with `--help`."]
    for name, command in commands(parser):
        lines += ["", f"{'#' * min(4, 1 + len(name.split()))} {name}", "", "```text", help_of(command), "```"]
    return "\n".join([*lines, ""])


def commands(parser: argparse.ArgumentParser) -> list[tuple[str, argparse.ArgumentParser]]:
    """Return a command and its subcommands, by full name."""
    found = [(parser.prog, parser)]
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for below in dict.fromkeys(action.choices.values()):
                found += commands(below)
    return found


def help_of(parser: argparse.ArgumentParser) -> str:
    """Return the help as in a terminal of 100 columns, without colours."""
    parser.formatter_class = _fixed(parser.formatter_class)
    return parser.format_help().strip()


def _fixed(formatter: Any) -> Any:  # noqa: ANN401  a class, or a function that makes one
    def made(prog: str, **arguments: Any) -> Any:  # noqa: ANN401
        return formatter(prog, **{**arguments, "width": 100})

    return made
