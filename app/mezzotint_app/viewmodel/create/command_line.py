"""A request as a `mezzotint generate` command, quoted for the platform's usual shell."""

import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QCoreApplication

from mezzotint.options import options_of, to_arguments
from mezzotint.protocol import GenerateRequest
from mezzotint_app.viewmodel.create.reading import read_request

translate = QCoreApplication.translate

_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:\\")


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandLine:
    """Command line arguments, and settings that have no option."""

    words: tuple[str, ...]
    left_out: tuple[str, ...]  # displayed

    def text(self, system: str = sys.platform) -> str:
        """Return the command for pasting into a shell."""
        return quoted(self.words, system)


def command_line(request: GenerateRequest) -> CommandLine:
    """Return the command that generates the same images."""
    words = ["mezzotint", "generate", *to_arguments(options_of(request))]
    words += ["--", request.prompt] if request.prompt.startswith("-") else [request.prompt]
    return CommandLine(words=tuple(words), left_out=read_request(request).left_out)


def quoted(words: Sequence[str], system: str = sys.platform) -> str:
    """Quote for PowerShell on Windows, the default of its terminals, and for POSIX shells elsewhere."""
    if system == "win32":
        return " ".join(map(_for_powershell, words))
    return shlex.join(words)


def _for_powershell(word: str) -> str:
    if word and set(word) <= _PLAIN:
        return word
    quotes = "'\u2018\u2019\u201a\u201b"  # PowerShell also treats typographic quotes as quotes
    return "'" + "".join(letter * 2 if letter in quotes else letter for letter in word) + "'"
