"""The denoising loop."""

import inspect
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Protocol, TypeVar

import torch

from mezzotint.acceleration.speedups import NO_SPEEDUPS, Speedups
from mezzotint.acceleration.text_cache import cached_text
from mezzotint.attention.session import finite
from mezzotint.errors import Cancelled, MezzotintError
from mezzotint.families.family import Conditioning, Family, LoadedModel, Scheduler
from mezzotint.families.noise_levels import denoised
from mezzotint.families.text.conditionings import at_evaluation, half_of
from mezzotint.protocol import IsCancelled
from mezzotint.stages.images.latent_mask import LatentMask
from mezzotint.stages.schedule import StageSchedule

T = TypeVar("T")
Predict = Callable[[LoadedModel, torch.Tensor, torch.Tensor, Conditioning], torch.Tensor]  # as `Family.predict`
OnStep = Callable[[int, torch.Tensor | None], None]  # steps done; an estimate of the clean latents, if requested


class Retry(Protocol):
    """Runs a piece of work, and retries it where that can help."""

    def __call__(self, make: Callable[[], T], reset: Callable[[], None]) -> T:
        """Return the result of `make`; `reset` undoes the failed attempt before each retry."""


class SamplerState:
    """A snapshot of a scheduler and the generators of the images, so that a repeated step gives the same result.

    Schedulers replace tensors and never write into them, so lists are copied and tensors are not.
    """

    def __init__(self, scheduler: Scheduler, generators: Sequence[torch.Generator]) -> None:
        self._scheduler, self._generators = scheduler, list(generators)
        self._values = {name: _copied(value) for name, value in vars(scheduler).items()}
        self._noise = [generator.get_state() for generator in self._generators]

    def restore(self) -> None:
        """Restore the saved state."""
        self._scheduler.__dict__.clear()
        self._scheduler.__dict__.update({name: _copied(value) for name, value in self._values.items()})
        for generator, noise in zip(self._generators, self._noise, strict=True):
            generator.set_state(noise)


@dataclass(frozen=True, slots=True, kw_only=True)
class Denoised:
    """The result of a stage's schedule."""

    latents: torch.Tensor  # (n, c, h, w), including any remaining noise
    clean: torch.Tensor  # the last estimate of the clean latents; the latents themselves if no noise remains

    def of_each(self) -> "list[Denoised]":
        """The result for each image."""
        pairs = zip(torch.split(self.latents, 1), torch.split(self.clean, 1), strict=True)
        return [Denoised(latents=latents, clean=clean) for latents, clean in pairs]


def denoise(
    family: Family,
    model: LoadedModel,
    schedule: StageSchedule,
    conditioning: Conditioning,
    latents: torch.Tensor,
    generators: list[torch.Generator],
    *,
    estimates: bool,
    on_step: OnStep,
    cancelled: IsCancelled,
    retry: Retry | None = None,
    cache_text: bool = True,
    latent_mask: LatentMask | None = None,
    on_retry: Callable[[], None] = lambda: None,
    speedups: Speedups = NO_SPEEDUPS,
    predict: Predict | None = None,
) -> Denoised:
    """Denoise latents `(n, c, h, w)`; raises Cancelled within one step, MezzotintError if values overflow.

    Each of the n images has its own generator, so it gets the same noise as when generated alone.
    `retry(make, reset)` returns the result of `make`, called again if need be: a repeated step gives the same result.
    `on_retry` is called before each retry, to clear state kept from step to step.
    After each step `latent_mask` restores the parts to be preserved, so the network always sees them at the
    right noise level. `speedups` are told of each step as it begins. `predict` replaces the family's.
    """
    run: Retry = retry or _once
    last = len(schedule.timesteps) - 1
    unfinished = schedule.sigmas[-1] > 0
    controls = (each.component for each in conditioning.controls if each.is_asked_each_step)
    components = dict.fromkeys((family.denoiser_component, *controls))
    with ExitStack() as stack:
        for component in components if cache_text else ():  # the cache checks memory, not values
            stack.enter_context(cached_text(model.networks[component]))
        start, begun = SamplerState(schedule.scheduler, generators), latents
        done = _done(schedule)
        conditionings = _of_steps(conditioning, done)

        def run_steps() -> tuple[torch.Tensor, torch.Tensor | None]:
            start.restore()
            on_retry()
            latents, estimate = begun, None
            for index in range(last + 1):
                if cancelled():
                    raise Cancelled(f"stopped after {index} of {last + 1} steps")
                wanted = estimates or (unfinished and index == last)
                arguments = (
                    predict or family.predict,
                    model,
                    schedule,
                    conditionings[index],
                    latents,
                    generators,
                    index,
                )
                begin = partial(speedups.begin_step, index, done[index], conditionings[index])
                step = partial(_begun, begin, partial(_step, *arguments, estimates=wanted, latent_mask=latent_mask))
                state = SamplerState(schedule.scheduler, generators)

                def rewind(state: SamplerState = state) -> None:
                    state.restore()
                    on_retry()

                latents, estimate = run(step, rewind)
                on_step(index + 1, estimate if estimates else None)
            return latents, estimate

        latents, estimate = finite(model.attention, run_steps, "the image")
    if not bool(torch.isfinite(latents).all()):
        raise MezzotintError(
            "the image contains NaN: the weights are damaged, or overflow in this dtype; try --dtype float32"
        )
    return Denoised(latents=latents, clean=estimate if unfinished and estimate is not None else latents)


def _done(schedule: StageSchedule) -> list[float]:
    """The part of the whole schedule that is done when each step begins."""
    return [1 - timestep / schedule.scheduler.config.num_train_timesteps for timestep in schedule.timesteps.tolist()]


def _begun(begin: Callable[[], None], make: Callable[[], T]) -> T:
    begin()
    return make()


def _of_steps(conditioning: Conditioning, done: list[float]) -> list[Conditioning]:
    """The conditioning of each step: its prompts and controls; conditional only outside the CFG interval."""
    if conditioning.later:
        begins = sorted({0, *(first for first, _ in conditioning.later)})
        parts = zip(begins, [*begins[1:], len(done)], strict=True)
        each = [(at_evaluation(conditioning, begin), done[begin:end]) for begin, end in parts]
        found = [one for part, share in each for one in _in_interval(part, share)]
    else:
        found = _in_interval(conditioning, done)
    if not conditioning.controls:
        return found
    return [
        replace(each, controls=tuple(control.at_step(index, len(done)) for control in each.controls))
        for index, each in enumerate(found)
    ]


def _in_interval(conditioning: Conditioning, done: list[float]) -> list[Conditioning]:
    """The conditioning of steps with the same prompts: conditional only outside the CFG interval (arXiv 2404.07724)."""
    interval = conditioning.sampling.cfg_interval
    if interval is None or not conditioning.guided:
        return [conditioning] * len(done)
    plain = half_of(conditioning, 1)
    return [conditioning if interval[0] <= part <= interval[1] else plain for part in done]


def _step(
    predict: Predict,
    model: LoadedModel,
    schedule: StageSchedule,
    conditioning: Conditioning,
    latents: torch.Tensor,
    generators: list[torch.Generator],
    index: int,
    *,
    estimates: bool,
    latent_mask: LatentMask | None,
) -> tuple[torch.Tensor, torch.Tensor | None]:
    """Return the latents after one step, and the estimate of the clean latents."""
    scheduler, timestep = schedule.scheduler, schedule.timesteps[index]
    scaled = scheduler.scale_model_input(latents, timestep) if hasattr(scheduler, "scale_model_input") else latents
    output = predict(model, scaled, timestep, conditioning)
    estimate = denoised(scheduler, latents, output, timestep) if estimates else None
    extra = _step_arguments(scheduler, generators)
    stepped = scheduler.step(output, timestep, latents, **extra, return_dict=False)[0]
    if latent_mask is None:
        return stepped, estimate
    if estimate is not None:
        estimate = latent_mask.over(schedule, estimate, index)
    return latent_mask.after(schedule, stepped, index), estimate


def _once(make: Callable[[], T], reset: Callable[[], None]) -> T:  # noqa: ARG001  as Retry has it
    """Run `make` without retrying."""
    return make()


def _step_arguments(scheduler: Scheduler, generators: list[torch.Generator]) -> dict[str, Any]:
    known = inspect.signature(scheduler.step).parameters
    return {name: value for name, value in {"eta": 0.0, "generator": generators}.items() if name in known}


def _copied(value: Any) -> Any:  # noqa: ANN401  any attribute of a scheduler
    if isinstance(value, list):
        return list(value)
    return dict(value) if type(value) is dict else value
