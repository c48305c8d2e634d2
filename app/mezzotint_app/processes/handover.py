"""Run the queue without the window, in a separate process that outlives this one."""

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
    """The command line that matches the window's settings."""
    return (*COMMAND, KEEP_AWAKE) if settings.keep_awake else COMMAND


def start_background_queue(command: Sequence[str] = COMMAND) -> bool:
    """Start the process and return whether that succeeded. The queue's lease must have been released before."""
    process = QProcess()
    process.setProgram(command[0])
    process.setArguments(list(command[1:]))
    process.setWorkingDirectory(str(Path.home()))  # so that the current folder can be deleted while the process runs
    process.setStandardInputFile(os.devnull)
    process.setStandardOutputFile(os.devnull)
    process.setStandardErrorFile(_log_file())
    answer: object = process.startDetached()
    started = bool(answer[0] if isinstance(answer, tuple) else answer)  # PySide6 does not follow its own signature
    if not started:
        _log.error(
            "the queue does not continue in the background: %s could not be started: %s",
            command[0],
            process.errorString(),
        )
    return started


def _log_file() -> str:
    """Path of the process's log, for when it fails to continue; overwrites the previous log."""
    path = paths.state_folder() / "queue.log"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"")
    except OSError:
        return os.devnull
    return str(path)
