"""`mezzotint completion`: print a shell completion script."""

import argparse
from typing import TYPE_CHECKING

from mezzotint.cli.command_options import add_command
from mezzotint.cli.context import Context
from mezzotint.cli.parser import make_parser

if TYPE_CHECKING:
    from mezzotint.cli.command_options import Commands

SHELLS = ("bash", "zsh", "fish", "tcsh")
_EXAMPLES = """\
  eval "$(mezzotint completion bash)"                                # in ~/.bashrc
  mezzotint completion zsh > ~/.zfunc/_mezzotint                     # a folder of $fpath
  mezzotint completion fish > ~/.config/fish/completions/mezzotint.fish
"""
_FILES = {"FILE", "FILE[:WEIGHT]", "IMAGE", "PATH", "MODEL", "TUNED", "BASE"}
_FOLDERS = {"DIR"}


def add(commands: "Commands") -> None:
    """Add the command and its option."""
    parser = add_command(commands, "completion", "Print a shell completion script.", run, _EXAMPLES)
    parser.add_argument("shell", choices=SHELLS, help="the shell that the script is for")


def run(arguments: argparse.Namespace, context: Context) -> int:
    """Print the script."""
    import shtab

    parser = make_parser()
    _complete_paths(parser, shtab.FILE, shtab.DIRECTORY)
    context.terminal.result(shtab.complete(parser, arguments.shell))
    return 0


def _complete_paths(parser: argparse.ArgumentParser, files: object, folders: object) -> None:
    """Mark arguments whose metavar denotes a path, so that shtab completes file or folder names there."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for below in action.choices.values():
                _complete_paths(below, files, folders)
        elif action.metavar in _FILES:
            setattr(action, "complete", files)  # noqa: B010  argparse does not declare this attribute
        elif action.metavar in _FOLDERS:
            setattr(action, "complete", folders)  # noqa: B010
