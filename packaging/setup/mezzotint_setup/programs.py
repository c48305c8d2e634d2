"""Runs other programs: stopped when the user pauses, without the user's own Python and uv settings."""

import os
import subprocess
import sys
from collections import deque
from collections.abc import Mapping, Sequence
from pathlib import Path

from mezzotint_setup.errors import SetupFailed
from mezzotint_setup.events import Stop

_LAST_LINES = 12
_NO_WINDOW = 0x08000000 if sys.platform == "win32" else 0  # no console flashes up


class Failed(Exception):
    """A program that ended with an error; the text is the end of what it said."""


def clean_environment(environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """The environment without what would lead Python or uv to other packages."""
    return {
        name: value
        for name, value in environment.items()
        if not name.startswith(("UV_", "PIP_", "PYTHON", "VIRTUAL_ENV", "CONDA_"))
    } | {"PYTHONSAFEPATH": "1", "PYTHONNOUSERSITE": "1", "PYTHONUTF8": "1"}


def run(command: Sequence[str | Path], environment: Mapping[str, str], stop: Stop) -> str:
    """Run a program and return what it said; raises Failed, or Paused after ending it."""
    try:
        process = subprocess.Popen(
            [str(word) for word in command],
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="utf-8",
            errors="replace",
            creationflags=_NO_WINDOW,
        )
    except OSError as error:
        raise Failed(f"{command[0]} cannot be started: {error.strerror}") from error
    with process:
        try:
            while True:
                try:
                    said, _ = process.communicate(timeout=0.2)
                    break
                except subprocess.TimeoutExpired:
                    stop.check()
        except BaseException:
            process.kill()
            raise
    if process.returncode != 0:
        raise Failed("\n".join(deque(said.strip().splitlines(), _LAST_LINES)) or f"it ended with {process.returncode}")
    return said


def build_failure(error: Failed) -> SetupFailed:
    """The failure of a program that builds."""
    said = str(error)
    if "No space left" in said or "os error 28" in said or "os error 112" in said:
        return SetupFailed("no_room", "the disk became full", "free some space or choose another folder")
    return SetupFailed(
        "build", f"the environment could not be built: {said}", "try again; if it stays so, report it with this text"
    )
