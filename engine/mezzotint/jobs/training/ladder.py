"""What a training does when memory runs short: it goes on from its state with levers that need less."""

import gc
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import fields, replace
from functools import cached_property
from typing import TypeVar

import torch

from mezzotint.checkpoints.plain_text import size
from mezzotint.codec import encode
from mezzotint.errors import DeviceLost, OutOfMemory
from mezzotint.gpu import opened_gpu
from mezzotint.jobs.training.folder import RunFolder
from mezzotint.jobs.training.planning import machine_of, task_of
from mezzotint.jobs.training.preparing import Prepared
from mezzotint.memory.planning.phases import TILES
from mezzotint.memory.shortage import is_lost, is_shortage
from mezzotint.stages.models.recovery import reason_of
from mezzotint.training.planning.planner import next_levers, planned_phases
from mezzotint.training.planning.task import TrainingTask
from mezzotint.training.trainer import Trainer
from mezzotint.training_protocol import PhaseName, TrainingLevers

T = TypeVar("T")

_PHASES: dict[PhaseName, str] = {
    "text": "encoding captions",
    "images": "encoding images",
    "network": "the training",
    "samples": "making sample images",
}
_ADVICE = "close other programs that use this memory"
_TILES = (*TILES, 128)  # pixels; smaller ones are visible


class Ladder:
    """The levers in use, and what is left when they do not suffice."""

    def __init__(
        self, prepared: Prepared, levers: TrainingLevers, folder: RunFolder, notify: Callable[[str, str], None]
    ) -> None:
        self.levers, self.makes_samples = levers, True
        self._prepared, self._folder, self._notify = prepared, folder, notify
        self._phase: PhaseName = "text"

    def enter(self, phase: PhaseName) -> None:
        """Tell what is done next, which is what a shortage is of."""
        self._phase = phase

    def run(self, attempt: Callable[[], T], *, can_retry: bool = True) -> T:
        """The result of an attempt, which is repeated after each shortage with levers that need less.

        Raises OutOfMemory if there are none, DeviceLost if this process cannot use the device any more.
        """
        while True:
            try:
                return attempt()
            except Exception as error:
                if is_lost(error):
                    raise self._lost(error) from error
                if not is_shortage(error):
                    raise
                reason = reason_of(error)
                traceback.clear_frames(error.__traceback__)  # frames hold networks and tensors
            free_memory()
            self._go_down(reason, can_retry=can_retry)

    @contextmanager
    def keeping(self, trainer: Trainer, save: Callable[[], None]) -> Iterator[None]:
        """Context manager: save the state after a shortage, if no step was being applied; else the last one is used."""
        try:
            yield
        except Exception as error:
            if is_shortage(error) and trainer.is_settled:
                traceback.clear_frames(error.__traceback__)  # room for the state in RAM
                free_memory()
                with suppress(MemoryError, RuntimeError, OutOfMemory):  # as good as none: the last one is kept
                    save()
            raise

    def _go_down(self, reason: str, *, can_retry: bool) -> None:
        what, before = _PHASES[self._phase], self.levers
        levers = self._next() if can_retry else None
        if levers is not None:
            self._folder.change(levers=encode(levers))
            self.levers = levers
            self._notify(
                "memory_short", f"{what} ran out of memory and goes on with {_changes(before, levers)}: {reason}"
            )
        elif can_retry and self._phase == "samples" and self.makes_samples:
            self.makes_samples = False
            self._notify("memory_short", f"{what} ran out of memory: the training goes on without them: {reason}")
        else:
            raise OutOfMemory(self._refusal(what, reason, can_retry=can_retry))

    def _next(self) -> TrainingLevers | None:
        """Levers with which the phase needs less."""
        levers, is_cpu = self.levers, self._prepared.model.device.id == "cpu"
        if self._phase == "text":
            return None if is_cpu or levers.text_on_cpu else replace(levers, text_on_cpu=True)
        if self._phase == "network":
            keeps = is_cpu or self._folder.state.exists()  # a state is of one optimizer
            return next_levers(self._task, machine_of(self._prepared.model.device.id), levers, keeps_optimizer=keeps)
        now = levers.vae_tile or self._prepared.values.resolution
        tile = next((each for each in _TILES if each < now), None)
        return None if tile is None else replace(levers, vae_tile=tile)

    @cached_property
    def _task(self) -> TrainingTask:
        return task_of(self._prepared.request, self._prepared.model, self._prepared.values)

    def _refusal(self, what: str, reason: str, *, can_retry: bool) -> str:
        phases = {each.name: each.peak for each in planned_phases(self._task, self.levers)}
        need = phases.get(self._phase, max(phases.values()))
        advice = _ADVICE
        if self._phase == "network":
            advice += ", or begin anew with a smaller --resolution, --batch or --rank"
            settings = self._prepared.request.settings
            if any(each is not None for each in (settings.checkpointing, settings.optimizer, settings.quantization)):
                advice += ", and without --checkpointing, --optimizer and --quantization"
            elif self._folder.state.exists():
                advice += ", or with --optimizer adamw-8bit, which cannot change once steps are taken"
        left = "nothing is left that needs less" if can_retry else "one of several processes cannot go on alone"
        return (
            f"{what} ran out of memory, and {left} ({_all(self.levers)}): about {size(need)} are needed, besides the "
            f"driver's; {reason}; {advice}; then go on with {self._folder.resuming}"
        )

    def _lost(self, error: Exception) -> DeviceLost:
        words = str(error).partition("\n")[0][:200]
        kept = "what was saved last is kept" if self._folder.state.exists() else "no step was saved yet"
        return DeviceLost(f"the GPU driver failed: {words}; {kept}: go on with {self._folder.resuming}")


def free_memory() -> None:
    """Give the memory of networks back, as this process goes on."""
    gc.collect()
    if (found := opened_gpu(torch)) is not None:
        found.empty_cache()


def _changes(before: TrainingLevers, after: TrainingLevers) -> str:
    """What differs, and whether it changes what is trained."""
    told = [
        _word(after, each.name) for each in fields(after) if getattr(before, each.name) != getattr(after, each.name)
    ]
    if before.quantization != after.quantization:
        told.append("from here on the frozen model is slightly off, and what is trained becomes slightly another")
    return "; ".join(told)


def _all(levers: TrainingLevers) -> str:
    return ", ".join(_word(levers, each.name) for each in fields(levers) if getattr(levers, each.name) != each.default)


def _word(levers: TrainingLevers, name: str) -> str:
    value = getattr(levers, name)
    if name == "vae_tile":
        return f"images in tiles of {value} pixels"
    if name == "text_on_cpu":
        return "text encoders on the CPU"
    return f"{name.replace('_', ' ')} {value}"
