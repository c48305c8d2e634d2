"""Measure predicted against actual memory peaks: generates the same image under one limit after the other."""

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

LIMITS = 3  # number of limits between the least that works and what holds everything
NEAR = 0.1  # tolerance, as a fraction of the prediction
_PROMPT, _SEED = "a red house by the sea", 7
_HEADROOM = 10  # plans leave 1/_HEADROOM of a device free


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchCase:
    """What is generated: an image of a given size by one model, or by a model and its refiner."""

    models: tuple[str, ...]
    width: int
    height: int
    quantization: Quantization | None = None  # None: as planned

    @property
    def name(self) -> str:
        """The models' ids, joined with a plus."""
        return "+".join(self.models)


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryCell:
    """The measurement of one subject under one limit."""

    model: str
    width: int
    height: int
    method: str  # ours, or one of diffusers'
    limit_bytes: int | None  # None: unlimited
    phases: tuple[PhaseMemory, ...]  # for each phase, the run with the highest peak
    predicted_bytes: int | None  # prediction for the phase with the highest measured peak
    measured_bytes: int | None
    seconds: float | None  # median compute time
    ratio: float | None  # of `seconds` to the time with everything on the device
    precision: str = ""
    text_precision: str = ""
    blocks: str = ""  # resident blocks, `N of M`
    tile: int = 0
    guidance: GuidancePasses = "batched"
    same_image: bool | None = None  # identical to the image with everything on the device
    recoveries: tuple[str, ...] = ()
    problem: str | None = None  # why nothing was measured

    @property
    def within_limit(self) -> bool | None:
        """Whether the limit held; None if there was no limit or no measurement."""
        if self.limit_bytes is None or self.measured_bytes is None:
            return None
        return self.measured_bytes <= self.limit_bytes

    @property
    def near(self) -> bool | None:
        """Whether the peak is within 10 % of its prediction; None if either is missing."""
        if self.predicted_bytes is None or self.measured_bytes is None:
            return None
        return is_near(self.predicted_bytes, self.measured_bytes)


def is_near(predicted: int, measured: int) -> bool:
    """Whether a prediction is within 10 % of the measured value."""
    return abs(measured - predicted) <= NEAR * predicted


class MemoryBallast(Protocol):
    """Factory of a context that occupies the GPU's memory except for `left` bytes."""

    def __call__(self, left: int) -> AbstractContextManager[None]:
        """Return the context; the memory is occupied inside it."""


def no_ballast(left: int) -> AbstractContextManager[None]:
    """Return a context that occupies nothing."""
    del left
    return nullcontext()


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchSettings:
    """Number of runs, device, and memory limits of the measurements."""

    steps: int
    repeats: int
    device: str
    limits: tuple[int, ...]  # empty: LIMITS of them, from the least that works upwards
    plenty: int | None  # a limit under which everything fits; None: the whole GPU
    ballast: MemoryBallast = no_ballast


class CellBench:
    """Generates the same image repeatedly with one engine."""

    def __init__(self, engine: "Engine", context: Context, settings: BenchSettings, folder: str) -> None:
        self._engine, self._context, self._settings, self._folder = engine, context, settings, folder
        self._made = 0

    def measure(self, case: BenchCase) -> Iterator[MemoryCell]:
        """Yield the cell with everything on the device, then one for each limit."""
        whole = self._runs(case, self._settings.plenty)
        resident = _seconds(whole)
        yield _cell(case, None, whole, whole)
        for limit in self._limits(whole[-1].plan):
            if self._settings.ballast is not no_ballast:
                self.close()  # weights still on the GPU would be memory beyond the limit
            try:
                with self._settings.ballast(limit):
                    found = self._runs(case, limit)
            except OutOfMemory as error:
                yield make_cell(case, limit, problem=str(error))
                continue
            yield replace(_cell(case, limit, found, whole), ratio=_seconds(found) / resident)

    def close(self) -> None:
        """Make the engine free what it keeps between images."""
        self._engine.close()

    def _limits(self, plan: Plan | None) -> Sequence[int]:
        if self._settings.limits or plan is None:
            return self._settings.limits
        least, most = plan.smallest_vram_bytes, plan.peak_vram_bytes * _HEADROOM // (_HEADROOM - 1)
        return [least + (most - least) * part // LIMITS for part in range(LIMITS)]

    def _runs(self, case: BenchCase, limit: int | None) -> list[GenerateResult]:
        """Generate the image repeatedly; the first result is a warm-up, not timed."""
        description = (
            "everything on the device" if limit is None or limit == self._settings.plenty else f"at most {size(limit)}"
        )
        self._context.terminal.message(f"{plain(case.name, 100)}, {case.width}x{case.height}: {description}")
        return [self._run(case, limit) for _ in range(1 + self._settings.repeats)]

    def _run(self, case: BenchCase, limit: int | None) -> GenerateResult:
        self._made += 1
        options = Options(
            prompt=_PROMPT + " " * self._made,  # same tokens, but it defeats the prompt embedding cache
            model=case.models[0],
            refiner=case.models[1] if len(case.models) > 1 else None,
            size=(case.width, case.height),
            quant=case.quantization,
            steps=self._settings.steps,
            seed=_SEED,
            device=self._settings.device,
            vram_limit=limit,
            output=f"{self._folder}/image.png",
            overwrite=True,
        )
        with Reporter(self._context, "json") as reporter:

            def on_event(event: Event) -> None:
                if not isinstance(event, Notice):  # the table has their content
                    reporter.on_event(event)

            return self._engine.generate(request_of(options), on_event, self._context.interrupt.stop_requested)


def _seconds(runs: Sequence[GenerateResult]) -> float:
    timed = [run.timings for run in runs[1:]]
    return statistics.median(each.encode + sum(each.denoise) + each.decode for each in timed)


def _cell(
    case: BenchCase, limit: int | None, runs: Sequence[GenerateResult], whole: Sequence[GenerateResult]
) -> MemoryCell:
    phases = _peak_phases(runs)
    top = max(phases, key=lambda phase: phase.measured_bytes, default=None)
    last = runs[-1]
    return make_cell(
        case,
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


def make_cell(case: BenchCase, limit: int | None, **found: Any) -> MemoryCell:  # noqa: ANN401  its fields
    """Return a cell without measurements except those in `found`."""
    values: dict[str, Any] = {
        "method": "mezzotint",
        "phases": (),
        "predicted_bytes": None,
        "measured_bytes": None,
        "seconds": None,
        "ratio": None,
    }
    values |= {"model": case.name, "width": case.width, "height": case.height, "limit_bytes": limit}
    return MemoryCell(**{**values, **found})


def _peak_phases(runs: Sequence[GenerateResult]) -> tuple[PhaseMemory, ...]:
    """Return each phase from the run with its highest peak: resident weights are not loaded yet in the first run."""
    most: dict[str, PhaseMemory] = {}
    for phase in (phase for run in runs for phase in run.memory.phases):
        before = most.get(phase.name)
        if before is None or before.measured_bytes <= phase.measured_bytes:
            most[phase.name] = phase
    return tuple(most.values())


def _blocks(plan: Plan) -> str:
    there = sum(part.resident_blocks for part in plan.components)
    return f"{there} of {sum(part.blocks for part in plan.components)}"
