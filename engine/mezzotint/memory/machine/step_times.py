"""Learn forward pass times from the steps of a job."""

import statistics
from collections.abc import Sequence

from mezzotint.memory.machine.calibration import Calibration
from mezzotint.memory.planning.costs import CopyRates, Layout, compute_seconds
from mezzotint.memory.planning.phases import tiled
from mezzotint.memory.planning.problem import Problem
from mezzotint.protocol import Plan, PlannedComponent

_FEWEST = 6  # minimum of steps: the host runs ahead of a GPU by up to two
_STEADY = 1.15  # times the median: steps vary more if a run was paused, throttled or disturbed


def steady(seconds: Sequence[float]) -> float | None:
    """Return the typical time of a step; None if there are too few or they vary too much."""
    if len(seconds) < _FEWEST:
        return None
    low, median, high = statistics.quantiles(seconds, n=4)
    alike = low > 0 and max(statistics.fmean(seconds), high) <= _STEADY * median and median <= _STEADY * low
    return median if alike else None


def learned_steps(problem: Problem, plan: Plan, stage: int, seconds: Sequence[float]) -> Calibration:
    """Return the calibration updated with the step times of a stage (from 1); unchanged if copying dominated them."""
    known, usual = problem.calibration, steady(seconds)
    task = problem.task.stages[stage - 1]
    denoiser = task.model.denoiser
    parts = (part for part in problem.parts(plan.guidance, plan.vae_tile) if part.component is denoiser)
    part = next((part for part in parts if stage in part.phases), None)
    planned = next((p for p in plan.components if part and (p.model, p.name) == (part.model.id, denoiser.name)), None)
    if usual is None or part is None or planned is None:
        return known
    scheme = plan.quantization if plan.quantization != "auto" else "none"
    work = next(work for work in part.works if work.phase == stage)
    layout = _layout(problem.layouts(part, scheme), planned)
    passes = (2 if task.guided and plan.guidance == "sequential" else 1) * tiled(task, task.tile)[1]
    copy_rates = CopyRates(problem.rate(planned.host), planned.pinned_bytes, problem.machine.copy_rate)
    measured = None if layout is None else compute_seconds(layout, usual / passes, copy_rates)
    if measured is None:
        return known
    expected = problem.computing(part, scheme, work)
    return known.timed(part.model.family, "denoiser", scheme, expected=expected, measured=measured)


def _layout(layouts: Sequence[Layout], planned: PlannedComponent) -> Layout | None:
    wanted = (planned.resident_blocks, planned.slots)
    return next((layout for layout in layouts if (layout.resident, layout.slots) == wanted), None)
