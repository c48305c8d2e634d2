"""Starts the version in use: the window, or the command line."""

import contextlib
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence

from mezzotint_setup.building import WINDOW
from mezzotint_setup.errors import SetupFailed
from mezzotint_setup.held_file import HeldFile
from mezzotint_setup.install import Installer, backend_of
from mezzotint_setup.programs import clean_environment
from mezzotint_setup.root import IN_USE, Root


def start(installer: Installer, arguments: Sequence[str]) -> int:
    """Open the window of the version in use; the first time, get what the window needs before."""
    root = installer.root
    while (name := root.usable()) is None:
        try:
            name = installer.install(WINDOW)
        except SetupFailed as failure:
            if failure.code != "busy":
                raise
            installer.stop.wait(0.5)  # another start is at it
    first = backend_of(root, name) == WINDOW
    return _become(root, name, ("mezzotint_app", *arguments), _environment(installer, first=first), console=False)


def command_line(installer: Installer, arguments: Sequence[str]) -> int:
    """Run `mezzotint ARGUMENTS` of the version in use."""
    if list(arguments) == ["doctor", "--repair"]:  # also where the version itself no longer starts
        installer.repair()
        return 0
    name = installer.root.usable()
    if name is None or backend_of(installer.root, name) == WINDOW:
        raise SetupFailed("nothing_installed", "no engine is installed yet", "start the window and choose one")
    return _become(installer.root, name, ("mezzotint", *arguments), _environment(installer), console=True)


def _environment(installer: Installer, *, first: bool = False) -> dict[str, str]:
    told = {
        "MEZZOTINT_ENGINE_ROOT": str(installer.root.path),
        "MEZZOTINT_SETUP_PAYLOAD": str(installer.payload.folder.absolute()),
        "MEZZOTINT_SETUP_PYTHON": os.environ.get("MEZZOTINT_SETUP_PYTHON") or sys.executable,
    }
    return clean_environment() | told | ({"MEZZOTINT_FIRST_START": "1"} if first else {})


def _become(root: Root, name: str, words: Sequence[str], environment: Mapping[str, str], *, console: bool) -> int:
    """Replace this process by the version's; it is not removed while it runs."""
    command = [str(root.interpreter(name, console=console)), "-m", *words]
    held = None
    with contextlib.suppress(OSError):  # a disk that may only be read
        held = HeldFile.take(root.folder(name) / IN_USE, shared=True, inherited=True)
    if sys.platform == "win32":
        return subprocess.run(command, env=environment, check=False).returncode
    try:
        os.execve(command[0], command, environment)  # noqa: S606
    finally:
        if held is not None:
            held.release()
