"""What the engine's process is asked about the queue: to drain it, and with what."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from mezzotint.jobs.drain import DrainControl, Ended, drain
from mezzotint.jobs.store import JobStore, Opened
from mezzotint.jobs.task_run import failure_of
from mezzotint.protocol import IsCancelled
from mezzotint.queue_protocol import DrainRequest, DrainResult, DrainSettings, OnDrainEvent, TaskBegun, TaskEnded

if TYPE_CHECKING:
    from mezzotint.engine import Engine


class QueueMethods:
    """One drain at a time; the lease is held by whoever asks for it."""

    def __init__(
        self,
        engine: "Callable[[], Engine]",
        abandoned: IsCancelled = lambda: False,
        open_store: Callable[[], Opened] = JobStore.open,
    ) -> None:
        """`abandoned`: whoever asked has died."""
        self._engine, self._abandoned, self._open_store = engine, abandoned, open_store
        self._control: DrainControl | None = None

    def drain(self, asked: DrainRequest, tell: OnDrainEvent, cancelled: IsCancelled) -> DrainResult:
        """Make what waits until nothing does, the queue is paused or the disk full, or it is cancelled."""
        with self._open_store().store as store:
            store.release(asked.owner, because="")  # of a drain that could not write to the queue any more
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
        """From the next task on; without a drain it is nobody's."""
        if (control := self._control) is not None:
            control.settings = settings


def _told(ended: Ended) -> TaskEnded:
    failure = None if ended.error is None else failure_of(ended.error)
    return TaskEnded(task=ended.task.id, state=ended.state, result=ended.result, failure=failure)
