"""Error messages of make."""

import os
import shutil
import subprocess
import sys

import pytest

pytestmark = pytest.mark.requires_command("make", "sudo apt-get install make")


@pytest.fixture
def make(root, tmp_path):
    """Run make in a folder that contains only the build files."""
    folder = tmp_path / "clone"
    folder.mkdir()
    files = {"Makefile", "constraints.txt", "pyproject.toml"}
    for name in files:
        shutil.copy(root / name, folder)

    def run(*words):
        environment = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
        done = subprocess.run(["make", *words], cwd=folder, env=environment, capture_output=True, text=True, timeout=60)
        assert {path.name for path in folder.iterdir()} == files
        return done

    return run


@pytest.fixture
def stand_in(tmp_path):
    """A fake Python that fails on code containing a word, and is Python otherwise."""

    def write(word):
        path = tmp_path / "python3"
        path.write_text(f'#!/bin/sh\ncase "$2" in *"{word}"*) exit 1;; esac\nexec {sys.executable} "$@"\n')
        path.chmod(0o755)
        return path

    return write


def test_alone_it_lists_the_commands(make):
    done = make()
    assert done.returncode == 0
    assert {"make run", "make test", "make clean"} <= {line[:10].strip() for line in done.stdout.splitlines()}


@pytest.mark.parametrize("target", ["package"])
def test_what_needs_a_choice_says_so_in_one_line(make, target):
    done = make(target)
    assert done.returncode != 0
    said = [line for line in done.stderr.splitlines() if not line.startswith("make: ***")]
    assert len(said) == 1
    assert said[0].startswith(f"make {target}: ")


def test_an_old_python_is_told_what_to_do(make, stand_in):
    done = make("test", f"PYTHON={stand_in('version_info <')}")
    assert done.returncode != 0
    assert "Mezzotint needs Python 3.11 to 3.14; none among:" in done.stderr
    assert "make PYTHON=/path/to/python3" in done.stderr


def test_a_python_without_ensurepip_is_told_what_to_install(make, stand_in):
    done = make("test", f"PYTHON={stand_in('ensurepip')}")
    assert done.returncode != 0
    assert f"sudo apt-get install python3.{sys.version_info.minor}-venv" in done.stderr
