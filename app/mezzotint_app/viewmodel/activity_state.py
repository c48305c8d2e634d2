"""Whether this window is generating images, from its queue or from a batch."""

from typing import Protocol

from PySide6.QtCore import QObject, Signal, SignalInstance

from mezzotint_app.viewmodel.batch.batches import Batches


class HasState(Protocol):
    """The worker of the queue, as implemented by `QueueRunner`."""

    changed: SignalInstance

    @property
    def state(self) -> str:
        """The worker's state; "working" and "stopping" count as busy."""
        ...


class ActivityState(QObject):
    """The queue's state, or "working" while a batch runs."""

    changed = Signal()

    def __init__(self, runner: HasState, batches: Batches, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._runner, self._batches = runner, batches
        runner.changed.connect(self.changed)
        batches.batch_changed.connect(lambda _batch: self.changed.emit())

    @property
    def state(self) -> str:
        """The state "working" while a batch runs, otherwise the queue's state."""
        return "working" if self._batches.runs() else self._runner.state
