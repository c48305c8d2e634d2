"""Help that can be read, and mistakes told in one line."""

import subprocess
import sys

import pytest

from mezzotint import __version__
from mezzotint.cli.parser import make_parser
from mezzotint.errors import UsageError

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
