"""Workers that generate the images: an engine in this process, or one process per device."""

import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from mezzotint.batch.run.outcomes import OnEventOf, Outcome, dispatch_by_request, outcomes_of
from mezzotint.batch.run.process import EngineProcess, ProcessEnded
from mezzotint.errors import DeviceLost, MezzotintError, UsageError
from mezzotint.protocol import GenerateManyRequest, GenerateRequest, GenerateResult, OnEvent

if TYPE_CHECKING:
    from mezzotint.engine import Engine

MOST_DEVICES = 64
CPU_BATCH_SIZE, GPU_BATCH_SIZE = 4, 8  # default batch sizes; the engine reduces them for large images
_WAITS = (1.0, 2.0, 4.0, 8.0, 0.0)  # seconds to wait after each failed start
_VISIBLE = "CUDA_VISIBLE_DEVICES"


class WorkerDied(Exception):
    """A worker's process died before it reported its image; another is started for the next one."""


class WorkerUnusable(MezzotintError):
    """A worker that cannot generate anything; others may."""

    kind = "no_engine"


class Worker(Protocol):
    """Generates images, one or several at a time. Used by one thread; starts with its first image."""

    in_this_process: bool  # a crash takes down the run, which then cannot record it

    def ready(self) -> None:
        """Do slow preparations before tasks are chosen, since more arrive meanwhile. Raises nothing."""

    def batch_size(self, request: GenerateRequest) -> int:
        """Return the batch size for images like this one."""

    def make(self, request: GenerateRequest, on_event: OnEvent) -> GenerateResult:
        """Generate a request's images and write them to disk. Raises MezzotintError, WorkerDied or WorkerUnusable."""

    def make_many(self, requests: Sequence[GenerateRequest], on_event: OnEventOf) -> list[Outcome]:
        """Return the outcome of each request. Raises, as `make` does, what ended the whole batch."""

    def close(self) -> None:
        """Release everything it holds."""


class EngineWorker:
    """An engine in this process."""

    in_this_process = True

    def __init__(self, make_engine: "Callable[[], Engine]", batch_size: int | None = 1) -> None:
        """`batch_size`: images at a time; None: the default for the device."""
        self._make_engine, self._batch_size = make_engine, batch_size
        self._engine: Engine | None = None
        self._has_card = False

    def ready(self) -> None:
        """Detect the device, if it matters; errors occur again with the first image."""
        if self._batch_size is None and self._engine is None:
            with suppress(Exception):
                self._has_card = any(device.id != "cpu" for device in self._opened().info().devices)

    def batch_size(self, request: GenerateRequest) -> int:
        """Return the batch size of the device that the request is for."""
        if self._batch_size is not None:
            return self._batch_size
        return GPU_BATCH_SIZE if self._has_card and request.device != "cpu" else CPU_BATCH_SIZE

    def make(self, request: GenerateRequest, on_event: OnEvent) -> GenerateResult:
        """Generate in this process; never stopped halfway."""
        return self._opened().generate(request, on_event, lambda: False)

    def make_many(self, requests: Sequence[GenerateRequest], on_event: OnEventOf) -> list[Outcome]:
        """Generate in this process; never stopped halfway."""
        dispatch = dispatch_by_request(on_event, len(requests))
        many = GenerateManyRequest(requests=tuple(requests))
        return outcomes_of(self._opened().generate_many(many, dispatch, lambda: False), len(requests))

    def _opened(self) -> "Engine":
        if self._engine is None:
            self._engine = self._make_engine()
        return self._engine

    def close(self) -> None:
        """Close the engine and what it has loaded."""
        if self._engine is not None:
            self._engine.close()


class ProcessWorker:
    """An engine in a separate process, on its own device; restarted when it dies."""

    in_this_process = False

    def __init__(
        self,
        command: Sequence[str],
        environ: Mapping[str, str],
        *,
        batch_size: int = 1,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._command, self._environ, self._batch_size, self._sleep = command, environ, batch_size, sleep
        self._process: EngineProcess | None = None

    def ready(self) -> None:
        """Do nothing: starting the process is retried, and a failure is reported for an image."""

    def batch_size(self, _: GenerateRequest) -> int:
        """Return the batch size of its device."""
        return self._batch_size

    def make(self, request: GenerateRequest, on_event: OnEvent) -> GenerateResult:
        """Generate in the process, which sees only its own device and picks that by itself."""
        process = self._started()
        with self._raising_worker_died():
            return process.generate(replace(request, device="auto"), on_event)

    def make_many(self, requests: Sequence[GenerateRequest], on_event: OnEventOf) -> list[Outcome]:
        """Generate several requests in the process."""
        process = self._started()
        with self._raising_worker_died():
            return process.generate_many([replace(one, device="auto") for one in requests], on_event)

    @contextmanager
    def _raising_worker_died(self) -> Iterator[None]:
        try:
            yield
        except (ProcessEnded, DeviceLost) as ended:  # after a lost device it exits by itself
            self.close()
            raise WorkerDied(str(ended)) from ended

    def _started(self) -> EngineProcess:
        """Return the process, started if needed; a death between two images is the fault of neither."""
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
                raise WorkerUnusable(f"the engine process cannot work: {error}") from error
            else:
                self._process = process
                return process
        raise WorkerUnusable(f"the engine process failed to start {len(_WAITS)} times: {why}")

    def close(self) -> None:
        """Ask the process to end, and make sure that it does."""
        if self._process is not None:
            self._process.close()
            self._process = None


def server_command(hold: Path, models_folders: Sequence[Path]) -> list[str]:
    """Return the command of an engine process, which locks the file `hold` while it lives."""
    words = [sys.executable, "-P", "-m", "mezzotint.server", "--hold", str(hold)]
    return words + [word for folder in models_folders for word in ("--models-folder", str(folder))]


def default_batch_size(device: str) -> int:
    """Return the default batch size of a process on this device."""
    return CPU_BATCH_SIZE if device == "cpu" else GPU_BATCH_SIZE


def device_environment(device: str, environ: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Return an environment that exposes one device: a CUDA device's number, or `cpu`; `auto` changes nothing.

    If the environment exposes only some of the devices, numbers count among these.
    """
    if device == "auto":
        return dict(environ)
    if device == "cpu":
        return {**environ, _VISIBLE: ""}
    visible = [one.strip() for one in environ.get(_VISIBLE, "").split(",") if one.strip()]
    number = int(device)
    if visible and number >= len(visible):
        raise UsageError(f"there is no device {device}: {_VISIBLE} exposes {len(visible)} of them, counted from 0")
    return {**environ, _VISIBLE: visible[number] if visible else device}


def parsed_devices(words: str) -> tuple[str, ...]:
    """Parse `0,1`: CUDA devices by number, or `cpu`; repeats are allowed. Raises UsageError for anything else."""
    devices = tuple(word.strip().removeprefix("cuda:") for word in words.split(","))
    for device in devices:
        if device != "cpu" and not (device.isascii() and device.isdigit() and len(device) <= 3):
            raise UsageError(f"'{device[:40]}' is not a device: give numbers of CUDA devices, such as 0,1, or cpu")
    if len(devices) > MOST_DEVICES:
        raise UsageError(f"{len(devices)} devices are too many: a batch can use at most {MOST_DEVICES}")
    return devices
