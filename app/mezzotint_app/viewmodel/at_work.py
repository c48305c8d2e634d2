"""Whether images are made for this window: by its queue, or by a batch."""

from typing import Protocol

from PySide6.QtCore import QObject, Signal, SignalInstance

from mezzotint_app.viewmodel.batch.batches import Batches


class Works(Protocol):
    """Who works at the queue; `QueueRunner` is one."""

    changed: SignalInstance

    @property
    def state(self) -> str:
        """The state; "working" and "stopping" count as work."""
        ...


class AtWork(QObject):
    """The queue's state, unless a batch runs."""

    changed = Signal()

    def __init__(self, runner: Works, batches: Batches, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._runner, self._batches = runner, batches
        runner.changed.connect(self.changed)
        batches.batch_changed.connect(lambda _batch: self.changed.emit())

    @property
    def state(self) -> str:
        """The state of whichever works."""
        return "working" if self._batches.runs() else self._runner.state
