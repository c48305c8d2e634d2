"""Help that can be read, and mistakes told in one line."""

import argparse
import dataclasses
import re
import subprocess
import sys
from pathlib import Path

import pytest

import mezzotint
from mezzotint import __version__
from mezzotint.cli.parser import make_parser
from mezzotint.errors import UsageError
from mezzotint.options import OPTIONS
from mezzotint.training_protocol import TrainingSettings

ENGINE = Path(mezzotint.__file__).parent

COMMANDS = [
    (),
    ("generate",),
    ("models",),
    ("models", "list"),
    ("models", "inspect"),
    ("lora",),
    ("lora", "inspect"),
    ("lora", "merge"),
    ("lora", "resize"),
    ("lora", "extract"),
    ("inspect",),
    ("plan",),
    ("bench",),
    ("bench", "starter"),
    ("doctor",),
    ("serve",),
    ("app",),
    ("completion",),
]


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_every_command_has_help(words, capsys):
    with pytest.raises(SystemExit) as end:
        make_parser().parse_args([*words, "--help"])
    assert end.value.code == 0
    assert "usage: mezzotint" in capsys.readouterr().out


def test_the_exit_codes_are_documented(capsys):
    with pytest.raises(SystemExit):
        make_parser().parse_args(["--help"])
    shown = capsys.readouterr().out
    for code in ("0", "1", "2", "3", "4", "5", "6", "7", "130"):
        assert f"\n  {code} " in shown


def test_the_version(capsys):
    with pytest.raises(SystemExit):
        make_parser().parse_args(["--version"])
    assert capsys.readouterr().out == f"mezzotint {__version__}\n"


@pytest.mark.parametrize("words", [[], ["paint"], ["models"], ["bench"], ["--verson"], ["inspect"], ["doctor", "x"]])
def test_a_mistake_is_one_line_that_names_the_help(words):
    with pytest.raises(UsageError, match=r"^[^\n]*--help`\)$"):
        make_parser().parse_args(words)


def test_two_hyphens_can_be_a_value():
    arguments = make_parser().parse_args(["generate", "--negative=--", "--init=--", "--", "--"])
    assert (arguments.negative, arguments.init, arguments.prompt) == ("--", "--", "--")


def test_two_hyphens_are_checked_as_every_value_is():
    with pytest.raises(UsageError, match="steps"):
        make_parser().parse_args(["generate", "--steps=--", "a house"])


def test_a_word_too_many_names_the_help_of_its_command_and_the_nearest_option():
    with pytest.raises(UsageError) as refused:
        make_parser().parse_args(["generate", "a house", "--stepz", "3"])
    assert str(refused.value) == (
        "unrecognized arguments: --stepz 3; did you mean --steps? (see `mezzotint generate --help`)"
    )
    with pytest.raises(UsageError, match="did you mean PROMPT without --prompt?"):
        make_parser().parse_args(["generate", "--prompt", "a house"])
    with pytest.raises(UsageError) as refused:
        make_parser().parse_args(["queue", "list", "more"])
    assert str(refused.value) == "unrecognized arguments: more (see `mezzotint queue list --help`)"


def test_only_the_command_that_is_asked_for_is_imported():
    code = (
        "import sys; from mezzotint.cli.parser import COMMANDS, make_parser; make_parser('inspect');"
        "print(*(one for one in COMMANDS.values() if f'mezzotint.cli.{one}' in sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["images.inspect"]


def _options(parser, command=""):
    """(command, destination) of every option of every command."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, below in action.choices.items():
                yield from _options(below, f"{command} {name}".strip())
        elif action.option_strings and action.dest not in ("help", "version"):
            yield command, action.dest


def _text(*folders):
    return "\n".join(path.read_text() for folder in folders for path in sorted((ENGINE / folder).rglob("*.py")))


def test_every_option_of_every_command_is_read():
    """By the code of the commands, or as a field of the options and settings, whose readers are below the commands."""
    shared = {one.field for one in OPTIONS.values()}
    trained = {one.name for one in dataclasses.fields(TrainingSettings)}
    read = set(re.findall(r'\barguments\.(\w+)|getattr\(arguments, "(\w+)"', _text("cli")))
    names = {name for pair in read for name in pair if name} | {"output", "out"}
    indirect = set(re.findall(r'"(\w+)"', _text("cli")))
    unread = [
        (command, dest)
        for command, dest in _options(make_parser())
        if dest not in names | shared | indirect and not (command == "train" and dest in trained)
    ]
    assert unread == []


def test_every_setting_of_a_training_is_read():
    words = _text("training", "jobs/training")
    fields = [one.name for one in dataclasses.fields(TrainingSettings)]
    assert [name for name in fields if not re.search(rf"\.{name}\b", words)] == []
