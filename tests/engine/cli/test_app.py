"""`mezzotint app` starts the window, or says what it lacks."""

import sys

import pytest

from mezzotint.cli.app import open_window
from mezzotint.cli.parser import make_parser
from mezzotint.errors import MezzotintError, NoPySide6


def test_the_window_is_a_process_of_its_own():
    called = []
    assert open_window(is_there=lambda name: True, call=lambda words: called.append(words) or 0) == 0
    assert called == [[sys.executable, "-P", "-m", "mezzotint_app"]]


def test_what_is_to_be_opened_is_passed_on():
    called = []
    open_window(["a.png", "models"], is_there=lambda name: True, call=lambda words: called.append(words) or 0)
    assert called == [[sys.executable, "-P", "-m", "mezzotint_app", "a.png", "models"]]
    assert make_parser().parse_args(["app", "a.png", "models"]).path == ["a.png", "models"]


def test_a_missing_package_is_told_with_the_line_that_installs_it():
    with pytest.raises(NoPySide6, match=r"-m pip install .PySide6-Essentials"):
        open_window(is_there=lambda name: name != "PySide6", call=lambda words: 0)
    with pytest.raises(MezzotintError, match="mezzotint_app"):
        open_window(is_there=lambda name: name == "PySide6", call=lambda words: 0)


def test_a_window_that_fails_is_an_error():
    with pytest.raises(MezzotintError, match="code 3"):
        open_window(is_there=lambda name: True, call=lambda words: 3)
