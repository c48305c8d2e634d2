"""The running task for the Queue page: activity, progress and remaining time."""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol

from PySide6.QtCore import QObject, Signal, SignalInstance

from mezzotint.jobs.store import EntryRow, Expected, JobStore, PhaseSeconds, Task
from mezzotint.protocol import Event
from mezzotint_app.viewmodel.queue.access import QueueAccess
from mezzotint_app.viewmodel.queue.progress import TaskProgress
from mezzotint_app.viewmodel.queue.watch import QueueWatch


class Runner(Protocol):
    """The runner's interface, as used by the queue's view models."""

    started: SignalInstance
    progressed: SignalInstance
    saved: SignalInstance
    ended: SignalInstance
    changed: SignalInstance

    @property
    def state(self) -> str:
        """idle, working, paused, elsewhere or stopping."""
        ...

    def task(self) -> Task | None:
        """Return the running task, or None."""
        ...

    def held_by(self) -> str:
        """Return which other program holds the queue, or "" if none does."""
        ...

    def is_lent(self) -> bool:
        """Whether the lease is lent to another process of this window."""
        ...

    def problem(self) -> str:
        """Return why the queue is stalled although it is not paused, or "" if it is not."""
        ...

    def pause(self) -> None:
        """Pause the queue and requeue the running task."""
        ...

    def resume(self) -> None:
        """Resume the queue."""
        ...

    def pause_after_current(self) -> None:
        """Pause after the current task."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class _Left:
    """Seconds expected from earlier runs, at a time when `saved` images of the task were saved."""

    entry: float | None = None
    queue: float | None = None
    saved: int = 0


class QueueRunning(QObject):
    """Follows the runner and estimates the remaining time."""

    changed = Signal()

    def __init__(
        self,
        access: QueueAccess,
        watch: QueueWatch,
        runner: Runner,
        parent: QObject | None = None,
        *,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(parent)
        self._access, self._now = access, now
        self._task: Task | None = None
        self._progress = TaskProgress()
        self._phases: PhaseSeconds | None = None
        self._left = _Left()
        runner.started.connect(self._started)
        runner.progressed.connect(self._progressed)
        runner.ended.connect(self._ended)
        watch.changed.connect(self._ask_left)
        if (task := runner.task()) is not None:
            self._started(task)

    def entry(self) -> int | None:
        """Return the running entry, or None."""
        return None if self._task is None else self._task.entry

    def progress(self) -> TaskProgress:
        """Return the progress of the running task."""
        return self._progress

    def words(self) -> str:
        """Return the current activity as text, or "" if nothing runs."""
        return "" if self._task is None else self._progress.words()

    def fraction(self) -> float | None:
        """Return the fraction of the task that is done, or None if unknown."""
        return None if self._task is None else self._progress.fraction(self._phases)

    def images_under_way(self) -> float:
        """Return how much of the current image is done, 0..1."""
        return self._progress.denoised if self._progress.phase in ("steps", "decoding") else 0.0

    def entry_seconds_left(self) -> float | None:
        """Return the seconds until the entry is done, or None if unknown."""
        return self._seconds_left(self._left.entry)

    def queue_seconds_left(self) -> float | None:
        """Return the seconds until the whole queue is done, or None if unknown."""
        if self._task is None:
            return self._left.queue
        return None if self._left.queue is None else self._seconds_left(self._left.queue)

    def _seconds_left(self, promised: float | None) -> float | None:
        mine = self._progress.seconds_left(self._phases)
        phases = self._phases
        if promised is None or mine is None or phases is None:
            return mine if promised is None else promised
        left = max(0, self._progress.images - self._left.saved)
        each = phases.steps * phases.step + phases.decode + phases.save
        return max(mine, promised - phases.load - phases.encode - left * each + mine)

    def _started(self, task: Task) -> None:
        self._task, self._phases, self._left = task, None, _Left()
        self._progress = TaskProgress(images=task.request.count)
        request = task.request
        self._access.ask(lambda store: store.expected(request), lambda found: self._expect(task, found), _unknown)
        self._access.ask(lambda store: store.row(task.entry), lambda row: self._count(task, row), _unknown)
        self._ask_left()
        self.changed.emit()

    def _count(self, task: Task, row: EntryRow) -> None:
        """Count images over the whole entry, as the list does."""
        if self._task is not None and self._task.id == task.id:
            self._progress = replace(self._progress, before=row.images, whole=row.images_asked)
            self.changed.emit()

    def _expect(self, task: Task, found: Expected) -> None:
        if self._task is not None and self._task.id == task.id:
            self._phases = found.phases
            self.changed.emit()

    def _progressed(self, task: Task, event: Event) -> None:
        if self._task is None or self._task.id != task.id:
            self._started(task)
        self._progress = self._progress.after(event, self._now())
        self.changed.emit()

    def _ended(self, _task: Task, _result: object, _failure: object) -> None:
        self._task, self._phases, self._progress = None, None, TaskProgress()
        self._ask_left()
        self.changed.emit()

    def _ask_left(self) -> None:
        entry, saved = self.entry(), self._progress.saved

        def read(store: JobStore) -> _Left:
            promised = None if entry is None else store.expected_entry(entry)
            return _Left(entry=promised, queue=store.expected_queue(), saved=saved)

        self._access.ask(read, lambda left: self._promised(entry, left), _unknown)

    def _promised(self, entry: int | None, left: _Left) -> None:
        if entry == self.entry():
            self._left = left
            self.changed.emit()


def _unknown(_error: Exception) -> None:
    """Ignore a failed estimate; problems of the store are reported where it is changed."""
