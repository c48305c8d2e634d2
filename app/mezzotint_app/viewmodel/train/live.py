"""The training that is running: from its start to its end, event by event."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

from PySide6.QtCore import QObject, Signal

from mezzotint.training_protocol import (
    EpochSaved,
    Preparing,
    TrainingEvent,
    TrainingJob,
    TrainingLoss,
    TrainingNotice,
    TrainingRequest,
    TrainingResult,
    TrainingRunInfo,
    TrainingStep,
)
from mezzotint_app.processes.service import Failure, Service
from mezzotint_app.viewmodel.batch.turn import GpuTurn
from mezzotint_app.viewmodel.train.losses import LossCurve

Stage = Literal["waiting", "preparing", "training", "pausing"]
_RECENT = 20  # steps that the time left is estimated from


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveState:
    """How far the running training is."""

    stage: Stage = "waiting"
    preparing: Preparing | None = None
    step: int = 0
    steps: int = 0
    seconds: float = 0.0  # per step; 0: not known


class LiveTraining(QObject):
    """One training at a time, in the engine's process."""

    changed = Signal()
    saved = Signal(str)  # folder of a run of which something new is on disk
    noticed = Signal(str)  # message for the user
    ended = Signal(str, object)  # folder, Failure | None; a pause is a failure of kind "cancelled"

    def __init__(self, engine: Service, turn: GpuTurn, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._engine, self._turn = engine, turn
        self._folder = ""
        self._job = TrainingJob()
        self._call: int | None = None
        self._state = LiveState()
        self._curve = LossCurve()
        self._recent: list[float] = []
        self._leaving: Callable[[], None] | None = None
        turn.changed.connect(self._turn_changed)

    # ---- state

    def folder(self) -> str:
        """Return the folder of the running training, or ""."""
        return self._folder

    def state(self) -> LiveState:
        """Return how far it is."""
        return self._state

    def losses(self) -> tuple[TrainingLoss, ...]:
        """Return its losses, also those before it was resumed."""
        return self._curve.points()

    def waiting_words(self) -> str:
        """Return what it waits for, before it starts."""
        return self._turn.words()

    def seconds_left(self) -> float | None:
        """Return how long the remaining steps will take, or None if that is not known yet."""
        state = self._state
        return (state.steps - state.step) * state.seconds if state.seconds and state.steps else None

    # ---- user actions

    def begin(self, request: TrainingRequest, folder: str) -> None:
        """Start a training as soon as nothing else uses the device."""
        self._start(TrainingJob(request=request), folder, (), 0, 0)

    def resume(self, info: TrainingRunInfo, *, accept_changes: bool = False) -> None:
        """Go on with a training."""
        job = TrainingJob(resume=info.folder, accept_changes=accept_changes)
        self._start(job, info.folder, info.losses, info.step, info.steps)

    def pause(self) -> None:
        """Stop after the current step; everything needed to go on is kept."""
        if not self._folder:
            return
        if self._call is None:
            self._over(Failure(kind="cancelled", message=""))
            return
        self._set(stage="pausing")
        self._engine.cancel(self._call)

    def shut_down(self, then: Callable[[], None]) -> None:
        """Pause, then call `then`; for closing the window."""
        if not self._folder:
            then()
            return
        self._leaving = then
        self.pause()

    # ---- internals

    def _start(self, job: TrainingJob, folder: str, losses: tuple[TrainingLoss, ...], step: int, steps: int) -> None:
        if self._folder or self._leaving is not None:
            return
        self._folder, self._job, self._call = folder, job, None
        self._curve, self._recent = LossCurve(losses), []
        self._state = LiveState(step=step, steps=steps)
        self.changed.emit()
        self._turn.take(self._ask)

    def _ask(self) -> None:
        self._set(stage="preparing")
        self._call = self._engine.ask(
            "train",
            self._job,
            answer=TrainingResult,
            then=lambda _result: self._over(None),
            failed=self._over,
            on_event=self._on_event,
        )

    def _on_event(self, event: TrainingEvent) -> None:
        match event:
            case Preparing():
                self._set(preparing=event)
            case TrainingStep():
                self._on_step(event)
            case EpochSaved():
                self.saved.emit(self._folder)
            case TrainingNotice(code="memory_short"):
                self.noticed.emit(event.message)

    def _on_step(self, event: TrainingStep) -> None:
        is_first = not self._recent
        self._recent = [*self._recent[-_RECENT + 1 :], event.seconds]
        self._curve.add(TrainingLoss(step=event.step, loss=event.loss))
        stage: Stage = "pausing" if self._state.stage == "pausing" else "training"
        seconds = sum(self._recent) / len(self._recent)
        self._set(stage=stage, preparing=None, step=event.step, steps=event.steps, seconds=seconds)
        if is_first:
            self.saved.emit(self._folder)  # samples of the model without the LoRA

    def _over(self, failure: Failure | None) -> None:
        folder, self._folder, self._call = self._folder, "", None
        self._turn.give_back()
        self._state = LiveState()
        self.changed.emit()
        self.ended.emit(folder, failure)
        then, self._leaving = self._leaving, None
        if then is not None:
            self._leaving = _nothing  # starts nothing more
            then()

    def _turn_changed(self) -> None:
        if self._folder and self._call is None:
            self.changed.emit()

    def _set(self, **fields: object) -> None:
        now = replace(self._state, **fields)  # type: ignore[arg-type]
        if now != self._state:
            self._state = now
            self.changed.emit()


def _nothing() -> None:
    """Placeholder after the callback has been called."""
