"""Scheduling of tasks to workers: those of one model and shape together, to avoid loading and preparing again."""

import threading
from collections.abc import Callable, Hashable
from dataclasses import dataclass

from mezzotint.batch.tasks.tasks import BatchTask
from mezzotint.protocol import GenerateRequest, Stage
from mezzotint.stages.together import batch_key

BatchSizeOf = Callable[[GenerateRequest], int]  # the batch size for tasks like this one


def affinity(request: GenerateRequest) -> Hashable:
    """Return a key shared by tasks that can run one after the other without preparing again."""
    stages = tuple((_weights(stage), stage.width, stage.height, stage.until) for stage in request.cascade.stages)
    loras = tuple((lora.path, lora.weight) for lora in request.loras)
    controls = tuple(control.model for control in request.controls)
    roles = tuple(image.role for image in request.images)
    return (request.device, request.dtype, request.quantization, stages, loras, controls, roles)


def _weights(stage: Stage) -> Hashable:
    return (None if stage.model is None else (stage.model.id, stage.model.parts), stage.weights)


@dataclass(slots=True)
class _Waiting:
    task: BatchTask
    affinity: Hashable
    together: Hashable | None  # equal for tasks that can share a batch; None: runs alone

    def goes_with(self, other: "_Waiting") -> bool:
        """Whether both fit into one batch of the engine."""
        return self.together is not None and self.affinity == other.affinity and self.together == other.together


def _waiting(task: BatchTask, alone: bool) -> _Waiting:
    return _Waiting(task, affinity(task.request), None if alone else batch_key(task.request))


class Dispatcher:
    """Hands out waiting tasks to workers.

    A window of the stream is handed out before the next one is considered: tasks are grouped within it, and none waits
    forever behind those of another model. A batch is filled up from the next window; no worker waits for tasks that
    have not arrived.
    """

    def __init__(self, stopping: Callable[[], bool] = lambda: False) -> None:
        """`stopping`: whether to start no more tasks; checked at the last moment."""
        self._stopping = stopping
        self._changed = threading.Condition()
        self._first: list[_Waiting] = []  # returned by a worker, for the next one to take
        self._window: list[_Waiting] = []
        self._arriving: list[_Waiting] = []
        self._last: dict[int, Hashable] = {}  # affinity of the last task, by worker
        self._held = self._ended = False

    def add(self, task: BatchTask, *, alone: bool = False) -> None:
        """Add a task of the stream. `alone`: it may have killed a process, and must not share a batch."""
        waiting = _waiting(task, alone)
        with self._changed:
            self._arriving.append(waiting)
            self._changed.notify()

    def add_first(self, task: BatchTask, *, alone: bool = False) -> None:
        """Add a task that was given up, ahead of all others."""
        waiting = _waiting(task, alone)
        with self._changed:
            self._first.append(waiting)
            self._changed.notify()

    def wait(self) -> bool:
        """Wait until there is a task to take; False if no more are handed out."""
        with self._changed:
            while not self._ended and (self._held or not (self._first or self._window or self._arriving)):
                self._changed.wait()
            return not (self._ended or self._stopping())

    def take(self, taker: int, batch_size: BatchSizeOf = lambda _: 1) -> list[BatchTask]:
        """Wait for the next batch for a worker, and return it; empty if there are no more tasks."""
        with self._changed:
            if not self.wait():
                return []
            chosen = self._choose(taker)
            self._last[taker] = chosen.affinity
            group = [chosen]
            if chosen.together is not None:
                self._fill(group, batch_size(chosen.task.request))
            return [one.task for one in group]

    def _fill(self, group: list[_Waiting], batch_size: int) -> None:
        """Fill up the batch, also from later tasks: these run sooner then, and the earlier ones no later."""
        for waiting in (self._first, self._window, self._arriving):
            left: list[_Waiting] = []
            for one in waiting:
                (group if len(group) < batch_size and group[0].goes_with(one) else left).append(one)
            waiting[:] = left

    def _choose(self, taker: int) -> _Waiting:
        if self._first:
            return self._first.pop(0)
        if not self._window:
            self._window, self._arriving = self._arriving, []
        mine = self._last.get(taker)
        others = {last for who, last in self._last.items() if who != taker}
        for wanted in (lambda one: one.affinity == mine, lambda one: one.affinity not in others):
            for index, one in enumerate(self._window):
                if wanted(one):
                    return self._window.pop(index)
        return self._window.pop(0)

    def hold(self, on: bool) -> None:
        """Pause handing out tasks, or resume it."""
        with self._changed:
            self._held = on
            self._changed.notify_all()

    def end(self) -> None:
        """Stop handing out tasks for good."""
        with self._changed:
            self._ended = True
            self._changed.notify_all()
