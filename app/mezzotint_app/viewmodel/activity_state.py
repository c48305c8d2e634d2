"""Whether this window is busy, with its queue, a batch or a training."""

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


class Runs(Protocol):
    """The trainings, as implemented by `TrainingRunsModel`."""

    changed: SignalInstance

    def runs(self) -> bool:
        """Whether a training is running."""
        ...


class ActivityState(QObject):
    """The queue's state, or "working" while a batch or a training runs."""

    changed = Signal()

    def __init__(
        self, runner: HasState, batches: Batches, parent: QObject | None = None, *, training: Runs | None = None
    ) -> None:
        super().__init__(parent)
        self._runner, self._batches, self._training = runner, batches, training
        runner.changed.connect(self.changed)
        batches.batch_changed.connect(lambda _batch: self.changed.emit())
        if training is not None:
            training.changed.connect(self.changed)

    @property
    def state(self) -> str:
        """The state "working" while a batch or a training runs, otherwise the queue's state."""
        trains = self._training is not None and self._training.runs()
        return "working" if self._batches.runs() or trains else self._runner.state
