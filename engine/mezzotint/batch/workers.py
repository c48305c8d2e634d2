"""What makes the pictures: an engine in this process, or one process per device."""

import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from mezzotint.batch.process import EngineProcess, ProcessEnded
from mezzotint.errors import DeviceLost, MezzotintError, UsageError
from mezzotint.protocol import GenerateRequest, GenerateResult, OnEvent

if TYPE_CHECKING:
    from mezzotint.engine import Engine

MOST_DEVICES = 64
_WAITS = (1.0, 2.0, 4.0, 8.0, 0.0)  # seconds after each start that fails
_VISIBLE = "CUDA_VISIBLE_DEVICES"


class WorkerDied(Exception):
    """A worker's process ended before its picture was told; another one is started for the next."""


class WorkerUnusable(MezzotintError):
    """A worker that cannot make anything; others may."""

    kind = "no_engine"


class Worker(Protocol):
    """Makes one picture at a time. It is used by one thread, and starts with its first picture."""

    in_this_process: bool  # what ends it ends the run, which then cannot tell of it

    def make(self, request: GenerateRequest, on_event: OnEvent) -> GenerateResult:
        """The pictures of a request, on the disk. Raises a MezzotintError, WorkerDied, or WorkerUnusable."""

    def close(self) -> None:
        """Let go of all it holds."""


class EngineWorker:
    """The engine in this process."""

    in_this_process = True

    def __init__(self, make_engine: "Callable[[], Engine]") -> None:
        self._make_engine = make_engine
        self._engine: Engine | None = None

    def make(self, request: GenerateRequest, on_event: OnEvent) -> GenerateResult:
        """Made here; never stopped halfway."""
        if self._engine is None:
            self._engine = self._make_engine()
        return self._engine.generate(request, on_event, lambda: False)

    def close(self) -> None:
        """What is loaded, too."""
        if self._engine is not None:
            self._engine.close()


class ProcessWorker:
    """An engine in a process of its own, on a device of its own; started again when it has died."""

    in_this_process = False

    def __init__(
        self, command: Sequence[str], environ: Mapping[str, str], *, sleep: Callable[[float], None] = time.sleep
    ) -> None:
        self._command, self._environ, self._sleep = command, environ, sleep
        self._process: EngineProcess | None = None

    def make(self, request: GenerateRequest, on_event: OnEvent) -> GenerateResult:
        """Made there. The process sees its own device alone, and takes that by itself."""
        process = self._started()
        try:
            return process.generate(replace(request, device="auto"), on_event)
        except (ProcessEnded, DeviceLost) as ended:  # after a lost device it ends by itself
            self.close()
            raise WorkerDied(str(ended)) from ended

    def _started(self) -> EngineProcess:
        """One that has ended between two pictures is no fault of either."""
        if self._process is not None and self._process.has_ended():
            self.close()
        return self._process or self._start()

    def _start(self) -> EngineProcess:
        why = ""
        for wait in _WAITS:
            process = EngineProcess(self._command, self._environ)
            try:
                process.initialize()
            except ProcessEnded as ended:
                process.close()
                why = str(ended)
                self._sleep(wait)
            except MezzotintError as error:
                process.close()
                raise WorkerUnusable(f"the engine's process will not work: {error}") from error
            else:
                self._process = process
                return process
        raise WorkerUnusable(f"the engine's process did not start {len(_WAITS)} times: {why}")

    def close(self) -> None:
        """Ask it to end, and see that it does."""
        if self._process is not None:
            self._process.close()
            self._process = None


def server_command(hold: Path, models_folders: Sequence[Path]) -> list[str]:
    """The engine's process, which holds a file while it lives."""
    words = [sys.executable, "-P", "-m", "mezzotint.server", "--hold", str(hold)]
    return words + [word for folder in models_folders for word in ("--models-folder", str(folder))]


def device_environment(device: str, environ: Mapping[str, str] = os.environ) -> dict[str, str]:
    """What shows a process one device alone: a number of a CUDA device, or `cpu`; `auto` changes nothing.

    Where the environment shows some of the devices, numbers count among these.
    """
    if device == "auto":
        return dict(environ)
    if device == "cpu":
        return {**environ, _VISIBLE: ""}
    visible = [one.strip() for one in environ.get(_VISIBLE, "").split(",") if one.strip()]
    number = int(device)
    if visible and number >= len(visible):
        raise UsageError(f"there is no device {device}: {_VISIBLE} shows {len(visible)} of them, counted from 0")
    return {**environ, _VISIBLE: visible[number] if visible else device}


def parsed_devices(words: str) -> tuple[str, ...]:
    """`0,1`: CUDA devices by number, or `cpu`; one may be named more than once. UsageError for anything else."""
    devices = tuple(word.strip().removeprefix("cuda:") for word in words.split(","))
    for device in devices:
        if device != "cpu" and not (device.isascii() and device.isdigit() and len(device) <= 3):
            raise UsageError(f"'{device[:40]}' is no device: give numbers of CUDA devices, such as 0,1, or cpu")
    if len(devices) > MOST_DEVICES:
        raise UsageError(f"{len(devices)} devices are too many: at most {MOST_DEVICES} work on one batch")
    return devices
