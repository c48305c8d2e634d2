"""The one loop in which noise becomes latents."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch

from mezzotint.acceleration.text_cache import remembering_text
from mezzotint.attention.session import finite
from mezzotint.errors import Cancelled, MezzotintError
from mezzotint.families.family import Conditioning, Family, LoadedModel, Scheduler
from mezzotint.families.samplers import denoised
from mezzotint.protocol import IsCancelled
from mezzotint.stages.schedule import Walk

OnStep = Callable[[int, torch.Tensor | None], None]  # steps done; an estimate of the clean latents, if wanted


@dataclass(frozen=True, slots=True, kw_only=True)
class Denoised:
    """Where a walk ended."""

    latents: torch.Tensor  # (1, c, h, w), with the noise that is left
    clean: torch.Tensor  # the last estimate of the clean latents; the latents themselves when no noise is left


def denoise(
    family: Family,
    model: LoadedModel,
    walk: Walk,
    conditioning: Conditioning,
    latents: torch.Tensor,
    generator: torch.Generator,
    *,
    estimates: bool,
    on_step: OnStep,
    cancelled: IsCancelled,
) -> Denoised:
    """Walk latents `(1, c, h, w)` down the noise; Cancelled within one step, MezzotintError when numbers overflow."""
    scheduler, last = walk.scheduler, len(walk.timesteps) - 1
    extra = _step_arguments(scheduler, generator)
    unfinished = walk.sigmas[-1] > 0
    estimate = None
    with remembering_text(model.networks[family.denoiser_component]):
        for index, timestep in enumerate(walk.timesteps):
            if cancelled():
                raise Cancelled(f"stopped after {index} of {last + 1} steps")
            scaled = (
                scheduler.scale_model_input(latents, timestep) if hasattr(scheduler, "scale_model_input") else latents
            )
            predict = partial(family.predict, model, scaled, timestep, conditioning)
            output = finite(model.attention, predict, f"step {index + 1}")  # before the sampler takes it in
            estimate = None
            if estimates or (unfinished and index == last):
                estimate = denoised(scheduler, latents, output, timestep)
            latents = scheduler.step(output, timestep, latents, **extra, return_dict=False)[0]
            on_step(index + 1, estimate if estimates else None)
    if not bool(torch.isfinite(latents).all()):
        raise MezzotintError(
            "the picture came out as not-a-number: the weights are damaged, or overflow in this dtype; "
            "try --dtype float32"
        )
    return Denoised(latents=latents, clean=estimate if unfinished and estimate is not None else latents)


def _step_arguments(scheduler: Scheduler, generator: torch.Generator) -> dict[str, Any]:
    known = inspect.signature(scheduler.step).parameters
    return {name: value for name, value in {"eta": 0.0, "generator": generator}.items() if name in known}
