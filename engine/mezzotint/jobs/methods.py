"""Queue methods of the engine process: drain the queue, and change its settings meanwhile."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from mezzotint.jobs.drain import DrainControl, Ended, drain
from mezzotint.jobs.store import JobStore, Opened
from mezzotint.jobs.task_run import failure_of
from mezzotint.protocol import IsCancelled
from mezzotint.queue_protocol import DrainRequest, DrainResult, DrainSettings, OnDrainEvent, TaskBegun, TaskEnded
from mezzotint.stages.images.request_images import natural_size

if TYPE_CHECKING:
    from mezzotint.engine import Engine


class QueueMethods:
    """Runs one drain at a time; the caller holds the lease."""

    def __init__(
        self,
        engine: "Callable[[], Engine]",
        abandoned: IsCancelled = lambda: False,
        open_store: Callable[[], Opened] = lambda: JobStore.open(size_of=natural_size),
    ) -> None:
        """`abandoned`: whether the caller has died."""
        self._engine, self._abandoned, self._open_store = engine, abandoned, open_store
        self._control: DrainControl | None = None

    def drain(self, asked: DrainRequest, tell: OnDrainEvent, cancelled: IsCancelled) -> DrainResult:
        """Run the waiting tasks until the queue is empty or paused, the disk is full, or the drain is cancelled."""
        with self._open_store().store as store:
            store.release(asked.owner, because="")  # left by a drain that could no longer write to the queue
            control = DrainControl(
                on_event=tell, cancelled=cancelled, abandoned=self._abandoned, settings=asked.settings
            )
            self._control = control
            try:
                return drain(
                    store,
                    asked.owner,
                    self._engine(),
                    control,
                    on_begun=lambda task: tell(TaskBegun(task=task)),
                    on_ended=lambda ended: tell(_told(ended)),
                )
            finally:
                self._control = None

    def change_settings(self, settings: DrainSettings) -> None:
        """Apply settings from the next task on; ignored if no drain is running."""
        if (control := self._control) is not None:
            control.settings = settings


def _told(ended: Ended) -> TaskEnded:
    failure = None if ended.error is None else failure_of(ended.error)
    return TaskEnded(task=ended.task.id, state=ended.state, result=ended.result, failure=failure)
