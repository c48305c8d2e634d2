"""Processes that outlive this one: the queue without the window, and the window of another version."""

import logging
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QProcess, QProcessEnvironment

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
    return start_detached(command, "queue.log")


def start_detached(command: Sequence[str], log: str, environment: QProcessEnvironment | None = None) -> bool:
    """Start a process that outlives this one, with a log of this name; returns whether that succeeded."""
    process = QProcess()
    if environment is not None:
        process.setProcessEnvironment(environment)
    process.setProgram(command[0])
    process.setArguments(list(command[1:]))
    process.setWorkingDirectory(str(Path.home()))  # so that the current folder can be deleted while the process runs
    process.setStandardInputFile(os.devnull)
    process.setStandardOutputFile(os.devnull)
    process.setStandardErrorFile(_log_file(log))
    answer: object = process.startDetached()
    started = bool(answer[0] if isinstance(answer, tuple) else answer)  # PySide6 does not follow its own signature
    if not started:
        _log.error("%s could not be started, whose log would be %s: %s", command[0], log, process.errorString())
    return started


def _log_file(name: str) -> str:
    """Path of the process's log, for when it fails; overwrites the previous log."""
    path = paths.state_folder() / name
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"")
    except OSError:
        return os.devnull
    return str(path)
