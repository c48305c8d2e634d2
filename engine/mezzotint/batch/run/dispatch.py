"""Which tasks come next, and for whom: those of one model and shape together, so that little is loaded and prepared."""

import threading
from collections.abc import Callable, Hashable
from dataclasses import dataclass

from mezzotint.batch.tasks.tasks import BatchTask
from mezzotint.protocol import GenerateRequest
from mezzotint.stages.together import batch_key

Most = Callable[[GenerateRequest], int]  # how many tasks like this one are made together


def affinity(request: GenerateRequest) -> Hashable:
    """What tasks have in common that can be made one after the other without preparing anew."""
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
    together: Hashable | None  # equal for those that can be made together; None: it is made with no other

    def goes_with(self, other: "_Waiting") -> bool:
        """Whether one batch of the engine can hold both."""
        return self.together is not None and self.affinity == other.affinity and self.together == other.together


def _waiting(task: BatchTask, alone: bool) -> _Waiting:
    return _Waiting(task, affinity(task.request), None if alone else batch_key(task.request))


class Dispatcher:
    """What waits, handed out to those that make it.

    A window of the stream is handed out before the next one is looked at: in it tasks are grouped, and none of them
    waits for ever behind those of another model. A group is filled up from the next window; nobody waits for tasks that
    have not come.
    """

    def __init__(self, stopping: Callable[[], bool] = lambda: False) -> None:
        """`stopping`: whether nothing is to be begun any more, asked at the last moment."""
        self._stopping = stopping
        self._changed = threading.Condition()
        self._first: list[_Waiting] = []  # given up by someone, for whoever comes next
        self._window: list[_Waiting] = []
        self._arriving: list[_Waiting] = []
        self._last: dict[int, Hashable] = {}  # of each taker
        self._held = self._ended = False

    def add(self, task: BatchTask, *, alone: bool = False) -> None:
        """A task of the stream. `alone`: it may be what ended a process, and is made with no other."""
        waiting = _waiting(task, alone)
        with self._changed:
            self._arriving.append(waiting)
            self._changed.notify()

    def add_first(self, task: BatchTask, *, alone: bool = False) -> None:
        """A task that was given up; it goes before all others."""
        waiting = _waiting(task, alone)
        with self._changed:
            self._first.append(waiting)
            self._changed.notify()

    def wait(self) -> bool:
        """Wait until there is something to take; False when no more is handed out."""
        with self._changed:
            while not self._ended and (self._held or not (self._first or self._window or self._arriving)):
                self._changed.wait()
            return not (self._ended or self._stopping())

    def take(self, taker: int, most: Most = lambda _: 1) -> list[BatchTask]:
        """The next tasks for this one, who waits for them: such as can be made together. None: there are no more."""
        with self._changed:
            if not self.wait():
                return []
            chosen = self._choose(taker)
            self._last[taker] = chosen.affinity
            group = [chosen]
            if chosen.together is not None:
                self._fill(group, most(chosen.task.request))
            return [one.task for one in group]

    def _fill(self, group: list[_Waiting], most: int) -> None:
        """Also from what has come after: that is made sooner then, and what is to come before it no later."""
        for waiting in (self._first, self._window, self._arriving):
            left: list[_Waiting] = []
            for one in waiting:
                (group if len(group) < most and group[0].goes_with(one) else left).append(one)
            waiting[:] = left

    def _choose(self, taker: int) -> _Waiting:
        if self._first:
            return self._first.pop(0)
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
