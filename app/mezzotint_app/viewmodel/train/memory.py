"""The memory plan of a training, which the engine makes before the start."""

from collections.abc import Iterator
from dataclasses import replace

from PySide6.QtCore import QCoreApplication, QObject, Signal

from mezzotint.training_protocol import TrainingPlan, TrainingRequest
from mezzotint_app.amounts import bytes_text
from mezzotint_app.processes.service import Failure, Service

translate = QCoreApplication.translate


class TrainingMemory(QObject):
    """Asks for a plan when something that decides it has changed; answers to earlier requests are dropped."""

    changed = Signal()

    def __init__(self, engine: Service, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._engine = engine
        self._wanted: TrainingRequest | None = None
        self._plan: TrainingPlan | None = None

    def ask(self, request: TrainingRequest | None) -> None:
        """Plan this training; None: nothing is to be trained."""
        wanted = None if request is None else _deciding(request)
        if wanted == self._wanted:
            return
        self._wanted, self._plan = wanted, None
        if wanted is None:
            return

        def answered(plan: TrainingPlan) -> None:
            if wanted is self._wanted:
                self._plan = plan
                self.changed.emit()

        def failed(_failure: Failure) -> None:  # the check tells what cannot be trained; the next one asks again
            if wanted is self._wanted:
                self._wanted = None

        self._engine.ask("training_plan", wanted, answer=TrainingPlan, then=answered, failed=failed)

    def line(self) -> str:
        """Return the plan as one line, or "" while there is none."""
        return "" if self._plan is None else memory_line(self._plan)


def memory_line(plan: TrainingPlan) -> str:
    """Return for example: Memory: 6.7 GB of 8.0 GB (5.0 GB of weights, ...), checkpointing."""
    step = next(phase for phase in plan.phases if phase.name == "network")
    parts = translate("Training", "{weights} of weights, {state} of gradients and optimizer, {live} of activations")
    parts = parts.format(
        weights=bytes_text(step.parameters),
        state=bytes_text(step.gradients + step.optimizer),
        live=bytes_text(step.activations),
    )
    words = translate("Training", "Memory: {need} of {have} ({parts})")
    if not plan.fits:
        words = translate(
            "Training",
            "Does not fit: {need} of memory are needed, {have} are free ({parts}). A lower resolution, batch size or "
            "rank, or another model needs less.",
        )
    line = words.format(need=bytes_text(plan.peak_bytes), have=bytes_text(plan.vram_bytes), parts=parts)
    return line if not plan.fits else ", ".join([line, *_ways(plan)])


def _ways(plan: TrainingPlan) -> Iterator[str]:
    """Yield what is done to fit."""
    levers = plan.levers
    if levers.checkpointing != "none":
        yield translate("Training", "some activations computed twice")
    if levers.optimizer != "adamw" and "bit" in levers.optimizer:
        yield translate("Training", "optimizer in few bits")
    if levers.quantization != "none":
        is_4bit = levers.quantization.startswith("int4")
        yield translate("Plan", "4-bit weights") if is_4bit else translate("Plan", "8-bit weights")
    if levers.text_on_cpu:
        yield translate("Training", "captions encoded on the CPU")
    if levers.vae_tile:
        yield translate("Training", "images encoded in tiles")


def _deciding(request: TrainingRequest) -> TrainingRequest:
    """The request without what memory does not depend on."""
    return replace(request, dataset="", name="", output="", trigger="", word="", prompts=request.prompts[:1])
