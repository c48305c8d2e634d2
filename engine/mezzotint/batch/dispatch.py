"""Which task comes next, and for whom: those of one model and shape together, so that little is loaded and prepared."""

import threading
from collections import deque
from collections.abc import Callable, Hashable
from dataclasses import dataclass

from mezzotint.batch.tasks import BatchTask
from mezzotint.protocol import GenerateRequest


def affinity(request: GenerateRequest) -> Hashable:
    """What tasks have in common that can be made one after the other, or together, without preparing anew."""
    stages = tuple(
        (None if stage.model is None else stage.model.id, stage.weights, stage.width, stage.height, stage.until)
        for stage in request.cascade.stages
    )
    loras = tuple((lora.path, lora.weight) for lora in request.loras)
    roles = tuple(image.role for image in request.images)
    return (request.device, request.dtype, request.quantization, stages, loras, roles)


@dataclass(slots=True)
class _Waiting:
    task: BatchTask
    affinity: Hashable


class Dispatcher:
    """What waits, handed out to those that make it.

    A window of the stream is handed out before the next one is looked at: in it tasks are grouped, and none of them
    waits for ever behind those of another model.
    """

    def __init__(self, stopping: Callable[[], bool] = lambda: False) -> None:
        """`stopping`: whether nothing is to be begun any more, asked at the last moment."""
        self._stopping = stopping
        self._changed = threading.Condition()
        self._first: deque[_Waiting] = deque()  # given up by someone, for whoever comes next
        self._window: list[_Waiting] = []
        self._arriving: list[_Waiting] = []
        self._last: dict[int, Hashable] = {}  # of each taker
        self._held = self._ended = False

    def add(self, task: BatchTask) -> None:
        """A task of the stream."""
        with self._changed:
            self._arriving.append(_Waiting(task, affinity(task.request)))
            self._changed.notify()

    def add_first(self, task: BatchTask) -> None:
        """A task that was given up; it goes before all others."""
        with self._changed:
            self._first.append(_Waiting(task, affinity(task.request)))
            self._changed.notify()

    def take(self, taker: int) -> BatchTask | None:
        """The next task for this one, who waits for it; None when no more are handed out."""
        with self._changed:
            while not self._ended and (self._held or not (self._first or self._window or self._arriving)):
                self._changed.wait()
            if self._ended or self._stopping():
                return None
            chosen = self._choose(taker)
            self._last[taker] = chosen.affinity
            return chosen.task

    def _choose(self, taker: int) -> _Waiting:
        if self._first:
            return self._first.popleft()
        if not self._window:
            self._window, self._arriving = self._arriving, []
        mine = self._last.get(taker)
        others = {last for who, last in self._last.items() if who != taker}
        for wanted in (lambda one: one.affinity == mine, lambda one: one.affinity not in others):
            for place, one in enumerate(self._window):
                if wanted(one):
                    return self._window.pop(place)
        return self._window.pop(0)

    def hold(self, on: bool) -> None:
        """Hand out nothing for a while."""
        with self._changed:
            self._held = on
            self._changed.notify_all()

    def end(self) -> None:
        """Hand out nothing any more."""
        with self._changed:
            self._ended = True
            self._changed.notify_all()
