"""`mezzotint app`: open the graphical application in its own process."""

import importlib.util
import subprocess
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from mezzotint.cli.command_options import add_command
from mezzotint.errors import MezzotintError, NoPySide6

if TYPE_CHECKING:
    from mezzotint.cli.command_options import Commands


def add(commands: "Commands") -> None:
    """Add the command."""
    parser = add_command(commands, "app", "Open the window.", lambda arguments, _context: open_window(arguments.path))
    parser.add_argument("path", nargs="*", help="an image, model or folder to open")


def open_window(
    paths: Sequence[str] = (),
    is_there: Callable[[str], bool] = lambda name: importlib.util.find_spec(name) is not None,
    call: Callable[[Sequence[str]], int] = subprocess.call,
) -> int:
    """Open the window and wait until it is closed. Raises NoPySide6 without PySide6, MezzotintError on failure."""
    if not is_there("PySide6"):
        raise NoPySide6
    if not is_there("mezzotint_app"):
        raise MezzotintError("the package mezzotint_app is not installed; reinstall mezzotint")
    code = call([sys.executable, "-P", "-m", "mezzotint_app", *paths])
    if code:
        raise MezzotintError(f"the window ended with code {code}; see its output above")
    return 0
