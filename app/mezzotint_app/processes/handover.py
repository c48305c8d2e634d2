"""The queue worked through without the window: a process of its own that outlives this one."""

import logging
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QProcess

from mezzotint import paths
from mezzotint_app.settings import Settings

COMMAND = (sys.executable, "-P", "-m", "mezzotint", "queue", "run", "--until-empty", "--wait")

KEEP_AWAKE = "--keep-awake"

_log = logging.getLogger("mezzotint_app.processes.handover")


def command(settings: Settings) -> tuple[str, ...]:
    """The command, with the window's settings."""
    return (*COMMAND, KEEP_AWAKE) if settings.keep_awake else COMMAND


def go_on_without_window(command: Sequence[str] = COMMAND) -> bool:
    """Start it; whether that went well. The lease must have been given back before."""
    process = QProcess()
    process.setProgram(command[0])
    process.setArguments(list(command[1:]))
    process.setWorkingDirectory(str(Path.home()))  # whatever folder this was started in can then be taken away
    process.setStandardInputFile(os.devnull)
    process.setStandardOutputFile(os.devnull)
    process.setStandardErrorFile(_log_file())
    answer: object = process.startDetached()
    started = bool(answer[0] if isinstance(answer, tuple) else answer)  # PySide6 does not keep to its own signature
    if not started:
        _log.error(
            "the queue does not continue in the background: %s could not be started: %s",
            command[0],
            process.errorString(),
        )
    return started


def _log_file() -> str:
    """What it says, for when it did not go on; the one before is replaced."""
    path = paths.state_folder() / "queue.log"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"")
    except OSError:
        return os.devnull
    return str(path)
