"""What makes the images: an engine in this process, or one process per device."""

import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from mezzotint.batch.run.outcomes import OnEventOf, Outcome, outcomes_of, told_apart
from mezzotint.batch.run.process import EngineProcess, ProcessEnded
from mezzotint.errors import DeviceLost, MezzotintError, UsageError
from mezzotint.protocol import GenerateManyRequest, GenerateRequest, GenerateResult, OnEvent

if TYPE_CHECKING:
    from mezzotint.engine import Engine

MOST_DEVICES = 64
ON_PROCESSOR, ON_CARD = 4, 8  # images made together where nobody says how many; the engine takes fewer of large ones
_WAITS = (1.0, 2.0, 4.0, 8.0, 0.0)  # seconds after each start that fails
_VISIBLE = "CUDA_VISIBLE_DEVICES"


class WorkerDied(Exception):
    """A worker's process ended before its image was told; another one is started for the next."""


class WorkerUnusable(MezzotintError):
    """A worker that cannot make anything; others may."""

    kind = "no_engine"


class Worker(Protocol):
    """Makes images, one or several at a time. It is used by one thread, and starts with its first image."""

    in_this_process: bool  # what ends it ends the run, which then cannot tell of it

    def ready(self) -> None:
        """There is work: do what takes long before any is chosen, for meanwhile more comes. Raises nothing."""

    def most(self, request: GenerateRequest) -> int:
        """How many images like this one it is given at a time."""

    def make(self, request: GenerateRequest, on_event: OnEvent) -> GenerateResult:
        """The images of a request, on the disk. Raises a MezzotintError, WorkerDied, or WorkerUnusable."""

    def make_many(self, requests: Sequence[GenerateRequest], on_event: OnEventOf) -> list[Outcome]:
        """What became of each. Raises, as `make` does, what ended all of them."""

    def close(self) -> None:
        """Release everything it holds."""


class EngineWorker:
    """The engine in this process."""

    in_this_process = True

    def __init__(self, make_engine: "Callable[[], Engine]", most: int | None = 1) -> None:
        """`most` images at a time; None: as is usual for the device."""
        self._make_engine, self._most = make_engine, most
        self._engine: Engine | None = None
        self._has_card = False

    def ready(self) -> None:
        """See what it runs on, if it matters; what goes wrong is met again with the first image."""
        if self._most is None and self._engine is None:
            with suppress(Exception):
                self._has_card = any(device.id != "cpu" for device in self._opened().info().devices)

    def most(self, request: GenerateRequest) -> int:
        """Of the device that the request is for."""
        if self._most is not None:
            return self._most
        return ON_CARD if self._has_card and request.device != "cpu" else ON_PROCESSOR

    def make(self, request: GenerateRequest, on_event: OnEvent) -> GenerateResult:
        """Made here; never stopped halfway."""
        return self._opened().generate(request, on_event, lambda: False)

    def make_many(self, requests: Sequence[GenerateRequest], on_event: OnEventOf) -> list[Outcome]:
        """Made here; never stopped halfway."""
        hear = told_apart(on_event, len(requests))
        many = GenerateManyRequest(requests=tuple(requests))
        return outcomes_of(self._opened().generate_many(many, hear, lambda: False), len(requests))

    def _opened(self) -> "Engine":
        if self._engine is None:
            self._engine = self._make_engine()
        return self._engine

    def close(self) -> None:
        """Close the engine and what it has loaded."""
        if self._engine is not None:
            self._engine.close()


class ProcessWorker:
    """An engine in a process of its own, on a device of its own; started again when it has died."""

    in_this_process = False

    def __init__(
        self,
        command: Sequence[str],
        environ: Mapping[str, str],
        *,
        most: int = 1,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._command, self._environ, self._most, self._sleep = command, environ, most, sleep
        self._process: EngineProcess | None = None

    def ready(self) -> None:
        """Nothing: starting it is tried more than once, and what comes of that is told of an image."""

    def most(self, _: GenerateRequest) -> int:
        """The most images that its device makes at once."""
        return self._most

    def make(self, request: GenerateRequest, on_event: OnEvent) -> GenerateResult:
        """Made there. The process sees its own device alone, and takes that by itself."""
        process = self._started()
        with self._told_if_it_dies():
            return process.generate(replace(request, device="auto"), on_event)

    def make_many(self, requests: Sequence[GenerateRequest], on_event: OnEventOf) -> list[Outcome]:
        """Have the process make several requests."""
        process = self._started()
        with self._told_if_it_dies():
            return process.generate_many([replace(one, device="auto") for one in requests], on_event)

    @contextmanager
    def _told_if_it_dies(self) -> Iterator[None]:
        try:
            yield
        except (ProcessEnded, DeviceLost) as ended:  # after a lost device it ends by itself
            self.close()
            raise WorkerDied(str(ended)) from ended

    def _started(self) -> EngineProcess:
        """One that has ended between two images is no fault of either."""
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


def usual_together(device: str) -> int:
    """How many images a process on this device is given at a time, where nobody says."""
    return ON_PROCESSOR if device == "cpu" else ON_CARD


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
