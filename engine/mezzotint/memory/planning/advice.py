"""What would make a job faster: options whose effect a plan can estimate, or that was measured, and what they lose.

Losses are those of `mezzotint bench quality` (docs/figures.md), rounded up, and only of the models that they were
measured on: small networks at 128 and 256 pixels say nothing of large ones.
"""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from mezzotint.memory.planning.costs import has_scheme
from mezzotint.memory.planning.task import StageTask, Task
from mezzotint.memory_protocol import Advice, AdviceKind, FastModel, Plan, PlanRequest, Scheme
from mezzotint.request_protocol import HIRES_STRENGTH
from mezzotint.values.speed import AUTO_CACHE, SHRINK_UNTIL, TOKEN_RATIOS, TokenReduction

WORTH = 0.9  # of the time: what saves less is not advised
_CACHED_FROM = 20  # steps
_LARGE = 1.5  # times the pixels that a model is made for
_SCALES = (1.5, 2.0, 3.0, 4.0)
_SIDE = 64  # pixels: a multiple that all models take
_BETTER: tuple[Scheme, ...] = ("int8", "int4-lowrank")  # better ones first
_LOSSES: Mapping[str, Mapping[str, float]] = {  # by the model's id
    "starter-dit": {"int8": 0.005, "int4-lowrank": 0.023, "cache": 0.006},
    "starter-flow": {"int8": 0.004, "cache": 0.022},
    "starter-xl": {"int8": 0.008, "int4-lowrank": 0.013, "cache": 0.023, "tokens": 0.041, "shrink": 0.053},
}

Replan = Callable[[Task], Plan]


def advised(task: Task, request: PlanRequest, made: Plan, replan: Replan) -> tuple[Advice, ...]:
    """Return what saves at least a tenth of the time, most first; what depends on the image last."""
    if not made.fits or made.seconds <= 0:
        return ()
    found: list[Advice] = []
    for option in _options(task, request, made):
        if option.task is None:
            found.append(option.advice)
            continue
        plan = replan(option.task)
        alike = (one.seconds for one in found if one.kind == option.advice.kind == "weights" and one.seconds)
        if plan.fits and plan.seconds <= WORTH * min((made.seconds, *alike)):
            found.append(replace(option.advice, seconds=plan.seconds))
    return tuple(sorted(found, key=lambda one: math.inf if one.seconds is None else one.seconds))


@dataclass(frozen=True, slots=True)
class _Option:
    advice: Advice
    task: Task | None = None  # None: no plan can tell


def _options(task: Task, request: PlanRequest, made: Plan) -> Iterator[_Option]:
    yield from _precisions(task, request, made)
    first = task.stages[0]
    unet = "UNet" in first.model.denoiser.class_name
    can_cache = request.step_cache is None and not first.tile and not first.control_shares
    if can_cache and first.steps >= _CACHED_FROM:
        yield _Option(_advice("cache", model_id=_measured(task), step_cache=AUTO_CACHE))
    if len(task.stages) > 1:
        return
    for fast in request.fast_models:
        yield _Option(_advice("model", model=fast.id, steps=fast.steps), _with(task, _by(first, fast)))
    if unet:
        yield from _in_unets(task, request)
    if request.denoise_tile is None:
        yield from _second_pass(task)


def _precisions(task: Task, request: PlanRequest, made: Plan) -> Iterator[_Option]:
    parts = [part for stage in task.stages for part in stage.model.components]
    if request.quantization in ("auto", "none"):
        later = _BETTER[_BETTER.index(made.quantization) + 1 :] if made.quantization in _BETTER else _BETTER
        tried = later if made.quantization in ("none", *_BETTER) else ()
        denoisers = [part for part in parts if part.role == "denoiser"]
        for scheme in (each for each in tried if any(has_scheme(part, each) for part in denoisers)):
            advice = _advice("weights", scheme, model_id=_measured(task), quantization=scheme)
            yield _Option(advice, replace(task, quantization=scheme))
    texts = any(has_scheme(part, "int8") for part in parts if part.role == "text")
    if texts and request.text_quantization in ("auto", "none") and made.text_quantization == "none":
        yield _Option(_advice("text", text_quantization="int8"), replace(task, text_quantization="int8"))


def _by(stage: StageTask, fast: FastModel) -> StageTask:
    return replace(stage, steps=fast.steps, guided=fast.guided)


def _in_unets(task: Task, request: PlanRequest) -> Iterator[_Option]:
    first = task.stages[0]
    saved = first.savings
    if request.tokens is None and request.sparse_attention is None:
        tokens: TokenReduction = ("todo", TOKEN_RATIOS["todo"])
        stage = replace(first, savings=replace(saved, tokens=tokens))
        yield _Option(_advice("tokens", model_id=_measured(task), tokens=tokens), _with(task, stage))
    if request.deep_shrink is None and _times_larger(first) > _LARGE and not first.control_shares:
        shrink = (2.0, SHRINK_UNTIL)
        stage = replace(first, savings=replace(saved, deep_shrink=shrink))
        yield _Option(_advice("shrink", model_id=_measured(task), deep_shrink=shrink), _with(task, stage))


def _second_pass(task: Task) -> Iterator[_Option]:
    first = task.stages[0]
    larger = _times_larger(first)
    scale = next((each for each in _SCALES if larger / each**2 <= _LARGE), _SCALES[-1])
    if larger <= _LARGE:
        return
    width, height = (max(_SIDE, round(side / scale / _SIDE) * _SIDE) for side in (first.width, first.height))
    steps = max(1, round(first.steps * HIRES_STRENGTH))
    stages = (replace(first, width=width, height=height), replace(first, steps=steps))
    yield _Option(_advice("hires", size=(width, height), hires=scale), replace(task, stages=stages))


def _times_larger(stage: StageTask) -> float:
    return stage.width * stage.height / (stage.model.width * stage.model.height)


def _with(task: Task, stage: StageTask) -> Task:
    return replace(task, stages=(stage,))


def _measured(task: Task) -> str:
    """The id of a job's only model; empty for several, of which nothing was measured."""
    return task.stages[0].model.id if len(task.stages) == 1 else ""


def _advice(kind: AdviceKind, measured: str = "", *, model_id: str = "", **options: Any) -> Advice:  # noqa: ANN401
    return Advice(kind=kind, seconds=None, loss=_LOSSES.get(model_id, {}).get(measured or kind), **options)
