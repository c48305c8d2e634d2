"""The argument parser of the command line, with every command's options and help."""

import argparse
import difflib
import importlib
from collections.abc import Sequence
from typing import NoReturn

from mezzotint import __version__
from mezzotint.errors import UsageError

# The module of each command; only that of the requested command is imported.
COMMANDS = {
    "generate": "generate",
    "batch": "batch.batch",
    "run": "batch.run",
    "grid": "batch.grid",
    "queue": "queue.queue",
    "decode": "images.decode",
    "control": "images.control",
    "upscale": "images.upscale",
    "remove-background": "images.remove_background",
    "models": "models.models",
    "lora": "lora.lora",
    "styles": "styles.styles",
    "inspect": "images.inspect",
    "plan": "plan",
    "quantize": "quantize",
    "train": "train",
    "prune": "prune",
    "bench": "bench.bench",
    "doctor": "doctor.doctor",
    "serve": "serve.serve",
    "app": "app",
    "completion": "completion",
}

EXIT_CODES = """\
exit codes:
  0    done
  1    failed
  2    an option or value that cannot work
  3    partly done: some images were made, others failed
  4    not enough memory
  5    the model was refused: damaged, unsafe or of an unknown kind
  6    the device is absent or cannot be used
  7    a file, folder or disk cannot be read or written
  8    another run uses the same folder or device
  130  interrupted; 128 plus the signal number after any other signal

Results go to stdout, messages to stderr. NO_COLOR=1 disables colours.
"""

EXAMPLES = """\
examples:
  mezzotint generate "a red house by the sea at dusk" --seed 7 -o house.png
  mezzotint batch photos -o out --prompt "at night, snow" --strength 0.5
  mezzotint models list
  mezzotint inspect house.png

"""


class Parser(argparse.ArgumentParser):
    """ArgumentParser that raises UsageError, so that usage errors are one line like all other errors."""

    def parse_known_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> tuple[argparse.Namespace, list[str]]:
        """Like argparse, but reject leftover arguments in the subparser that found them, suggesting a close match."""
        found, left = super().parse_known_args(args, namespace)
        if left:
            word = left[0].partition("=")[0]
            words = {
                f"--{action.dest}": f"{action.metavar} without --{action.dest}"
                for action in self._get_positional_actions()
            }
            words |= {option: option for option in self._option_string_actions}
            near = difflib.get_close_matches(word, words, n=1) if word.startswith("-") else []
            meant = f"; did you mean {words[near[0]]}?" if near else ""
            self.error(f"unrecognized arguments: {' '.join(left)}{meant}")
        return found, left

    def error(self, message: str) -> NoReturn:
        """Raise UsageError."""
        raise UsageError(f"{message} (see `{self.prog} --help`)")

    def _get_values(self, action: argparse.Action, arg_strings: list[str]) -> object:
        """Like argparse, but keep the value in `--negative=--`, which argparse drops up to Python 3.12."""
        if action.option_strings and action.nargs is None and arg_strings == ["--"]:
            value = self._get_value(action, "--")
            self._check_value(action, value)
            return value
        return super()._get_values(action, arg_strings)


def make_parser(command: str | None = None) -> argparse.ArgumentParser:
    """Return the parser of all commands, or of `command` alone."""
    parser = Parser(
        prog="mezzotint",
        description="Generate images from text on your own machine.",
        epilog=EXAMPLES + EXIT_CODES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"mezzotint {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", dest="command", required=True)
    for module in [COMMANDS[command]] if command in COMMANDS else COMMANDS.values():
        importlib.import_module(f"mezzotint.cli.{module}").add(commands)
    return parser
