"""What plans predict beside what is measured: images made through the engine under one limit after the other."""

import statistics
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

from mezzotint.batch.job.settings import request_of
from mezzotint.checkpoints.plain_text import plain, size
from mezzotint.cli.context import Context
from mezzotint.cli.reporter import Reporter
from mezzotint.errors import OutOfMemory
from mezzotint.options import Options
from mezzotint.protocol import Event, GenerateResult, GuidancePasses, Notice, PhaseMemory, Plan, Quantization

if TYPE_CHECKING:
    from mezzotint.engine import Engine

LIMITS = 3  # between the least that works and what holds everything
NEAR = 0.1  # of the prediction
_PROMPT, _SEED = "a red house by the sea", 7
_HEADROOM = 10  # of a device, as a divisor, that plans leave free


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """What is made: an image of a size by one model, or by two."""

    models: tuple[str, ...]
    width: int
    height: int
    quantization: Quantization | None = None  # None: as planned

    @property
    def name(self) -> str:
        """Of its models."""
        return "+".join(self.models)


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryCell:
    """One subject under one limit."""

    model: str
    width: int
    height: int
    method: str  # ours, or one of diffusers'
    limit_bytes: int | None  # None: all that there is
    phases: tuple[PhaseMemory, ...]  # the most of all runs
    predicted_bytes: int | None  # of the phase that was measured to take the most
    measured_bytes: int | None
    seconds: float | None  # of computing, the median
    ratio: float | None  # of that to the time with everything on the device
    precision: str = ""
    text_precision: str = ""
    blocks: str = ""  # that stay on the device, of all
    tile: int = 0
    guidance: GuidancePasses = "batched"
    same_image: bool | None = None  # as with everything on the device
    recoveries: tuple[str, ...] = ()
    problem: str | None = None  # why nothing was measured

    @property
    def within_limit(self) -> bool | None:
        """Whether the limit held; None where there was none, or nothing was measured."""
        if self.limit_bytes is None or self.measured_bytes is None:
            return None
        return self.measured_bytes <= self.limit_bytes

    @property
    def near(self) -> bool | None:
        """Whether the peak is within a tenth of its prediction; None: there is none."""
        if self.predicted_bytes is None or self.measured_bytes is None:
            return None
        return is_near(self.predicted_bytes, self.measured_bytes)


def is_near(predicted: int, measured: int) -> bool:
    """Whether a prediction is right to a tenth."""
    return abs(measured - predicted) <= NEAR * predicted


class Hold(Protocol):
    """Has something else take a card's memory, inside, but for so many bytes."""

    def __call__(self, left: int) -> AbstractContextManager[None]:
        """Begin to hold it."""


def hold_nothing(left: int) -> AbstractContextManager[None]:
    """The card stays as it is."""
    del left
    return nullcontext()


@dataclass(frozen=True, slots=True, kw_only=True)
class How:
    """How often, where, and under which limits."""

    steps: int
    repeats: int
    device: str
    limits: tuple[int, ...]  # none: some between the least that works and enough
    plenty: int | None  # a limit that holds everything; None: the whole card
    hold: Hold = hold_nothing


class CellBench:
    """One engine that makes the same image again and again."""

    def __init__(self, engine: "Engine", context: Context, how: How, folder: str) -> None:
        self._engine, self._context, self._how, self._folder = engine, context, how, folder
        self._made = 0

    def measure(self, subject: Subject) -> Iterator[MemoryCell]:
        """Everything on the device first; then each limit, as it is measured."""
        whole = self._runs(subject, self._how.plenty)
        resident = _seconds(whole)
        yield _cell(subject, None, whole, whole)
        for limit in self._limits(whole[-1].plan):
            if self._how.hold is not hold_nothing:
                self.close()  # what is kept on the card would be memory that it has beyond the limit
            try:
                with self._how.hold(limit):
                    found = self._runs(subject, limit)
            except OutOfMemory as error:
                yield nothing_measured(subject, limit, problem=str(error))
                continue
            yield replace(_cell(subject, limit, found, whole), ratio=_seconds(found) / resident)

    def close(self) -> None:
        """Have the engine let go of what it keeps between images."""
        self._engine.close()

    def _limits(self, plan: Plan | None) -> Sequence[int]:
        if self._how.limits or plan is None:
            return self._how.limits
        least, most = plan.smallest_vram_bytes, plan.peak_vram_bytes * _HEADROOM // (_HEADROOM - 1)
        return [least + (most - least) * part // LIMITS for part in range(LIMITS)]

    def _runs(self, subject: Subject, limit: int | None) -> list[GenerateResult]:
        """The first of which finds everything elsewhere, and is not timed."""
        said = "everything on the device" if limit is None or limit == self._how.plenty else f"at most {size(limit)}"
        self._context.terminal.talk(f"{plain(subject.name, 100)}, {subject.width}x{subject.height}: {said}")
        return [self._run(subject, limit) for _ in range(1 + self._how.repeats)]

    def _run(self, subject: Subject, limit: int | None) -> GenerateResult:
        self._made += 1
        asked = Options(
            prompt=_PROMPT + " " * self._made,  # the same to every model; but words that are known are not read again
            model=subject.models[0],
            refiner=subject.models[1] if len(subject.models) > 1 else None,
            size=(subject.width, subject.height),
            quant=subject.quantization,
            steps=self._how.steps,
            seed=_SEED,
            device=self._how.device,
            vram_limit=limit,
            output=f"{self._folder}/image.png",
            overwrite=True,
        )
        with Reporter(self._context, "json") as reporter:

            def on_event(event: Event) -> None:
                if not isinstance(event, Notice):  # what they tell is in the table
                    reporter.on_event(event)

            return self._engine.generate(request_of(asked), on_event, self._context.interrupt.asked)


def _seconds(runs: Sequence[GenerateResult]) -> float:
    timed = [run.timings for run in runs[1:]]
    return statistics.median(each.encode + sum(each.denoise) + each.decode for each in timed)


def _cell(
    subject: Subject, limit: int | None, runs: Sequence[GenerateResult], whole: Sequence[GenerateResult]
) -> MemoryCell:
    phases = _most(runs)
    top = max(phases, key=lambda phase: phase.measured_bytes, default=None)
    last = runs[-1]
    return nothing_measured(
        subject,
        limit,
        phases=phases,
        predicted_bytes=None if top is None else top.predicted_bytes,
        measured_bytes=None if top is None else top.measured_bytes,
        seconds=_seconds(runs),
        ratio=1.0,
        precision=last.quantization,
        text_precision=last.text_quantization,
        blocks="" if last.plan is None else _blocks(last.plan),
        tile=last.vae_tile,
        guidance=last.guidance_passes,
        same_image=last.images[0].sha256 == whole[-1].images[0].sha256,
        recoveries=tuple(dict.fromkeys(done for run in runs for done in run.recoveries)),
    )


def nothing_measured(subject: Subject, limit: int | None, **found: Any) -> MemoryCell:  # noqa: ANN401  its fields
    """A cell with no more than is said."""
    values: dict[str, Any] = {
        "method": "mezzotint",
        "phases": (),
        "predicted_bytes": None,
        "measured_bytes": None,
        "seconds": None,
        "ratio": None,
    }
    values |= {"model": subject.name, "width": subject.width, "height": subject.height, "limit_bytes": limit}
    return MemoryCell(**{**values, **found})


def _most(runs: Sequence[GenerateResult]) -> tuple[PhaseMemory, ...]:
    """Of each phase the run that took the most: in the first, what stays is not there yet."""
    most: dict[str, PhaseMemory] = {}
    for phase in (phase for run in runs for phase in run.memory.phases):
        before = most.get(phase.name)
        if before is None or before.measured_bytes <= phase.measured_bytes:
            most[phase.name] = phase
    return tuple(most.values())


def _blocks(plan: Plan) -> str:
    there = sum(part.resident_blocks for part in plan.components)
    return f"{there} of {sum(part.blocks for part in plan.components)}"
