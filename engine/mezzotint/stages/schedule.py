"""The part of a schedule that a stage runs, and how noise levels of different models are matched.

Levels are compared as log-SNR, ln(alpha^2 / sigma^2) (arXiv 2107.00630), which means the same for every model, whatever
its timesteps. Between samplers the noise is measured as sigma = exp(-log_snr / 2), that of x = x0 + sigma n.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields

import torch

from mezzotint.errors import UsageError
from mezzotint.families.family import Scheduler
from mezzotint.families.noise_levels import log_snr_at, noise_levels, state_convention, timestep_at
from mezzotint.families.samplers import build_scheduler, set_steps
from mezzotint.protocol import ControlUsed, ModelUsed, ResolvedStage, Sampling
from mezzotint.stages.image_spec import Variation
from mezzotint.stages.setup import CascadeSetup, StageSetup

_SAME = 1e-4  # relative; levels this close count as equal


@dataclass(frozen=True, slots=True, kw_only=True)
class StageSchedule:
    """A fresh sampler and the steps that a stage runs with it."""

    scheduler: Scheduler
    levels: Scheduler  # a copy in RAM that takes no steps: querying its levels does not synchronize the GPU
    begin: int  # index of the first evaluation of the schedule that runs
    timesteps: torch.Tensor  # of the steps that run
    sigmas: tuple[float, ...]  # of the steps that run, plus the final one; in the sampler's convention
    log_snr_start: float
    log_snr_end: float  # inf: no noise remains
    log_snr_cut: float | None  # requested handover point
    entered_at: float | None  # log-SNR at the requested start; None: at pure noise

    def is_clean_after(self, index: int) -> bool:
        """Whether no noise remains after step `index`, from 0."""
        return self.begin + index + 1 >= len(self.levels.timesteps)


def plan_schedule(
    setup: StageSetup, device: torch.device, *, strength: float | None = None, after: StageSchedule | None = None
) -> StageSchedule:
    """Plan the whole schedule, its last `strength` of steps, or what the previous stage left; ends at `until`."""
    scheduler, in_ram = build_scheduler(setup.scheduler), build_scheduler(setup.scheduler)
    set_steps(scheduler, setup.scheduler, setup.sampling.steps, device)
    set_steps(in_ram, setup.scheduler, setup.sampling.steps)
    order = int(scheduler.order)
    begin = 0
    if strength is not None:
        begin = (setup.sampling.steps - min(int(setup.sampling.steps * strength), setup.sampling.steps)) * order
    elif after is not None and after.log_snr_cut is not None:
        begin = _evaluations_above(scheduler, timestep_at(scheduler, after.log_snr_cut), order)
        begin = _not_below(scheduler, begin, after.log_snr_end, order)
    end, cut = len(scheduler.timesteps), None
    if setup.until is not None:
        begun = _done_before(scheduler, begin) if strength is not None else 0.0
        cut_timestep = _cut_timestep(scheduler, begun + (1 - begun) * setup.until)
        end = _evaluations_above(scheduler, cut_timestep, order)
        cut = log_snr_at(scheduler, cut_timestep)
    if begin >= end:
        raise UsageError(f"{setup.found.info.id} has no steps left: {_why_none(setup, strength)}")
    if hasattr(scheduler, "set_begin_index"):
        scheduler.set_begin_index(begin)
    levels = noise_levels(scheduler)
    log_snr = (*levels.log_snr, math.inf)
    return StageSchedule(
        scheduler=scheduler,
        levels=in_ram,
        begin=begin,
        timesteps=scheduler.timesteps[begin:end],
        sigmas=levels.sigmas[begin : end + 1],
        log_snr_start=log_snr[begin],
        log_snr_end=log_snr[end],
        log_snr_cut=cut,
        entered_at=_entered_at(begin, log_snr[begin], None if strength is not None else after),
    )


def plan_schedules(setup: CascadeSetup, device: torch.device) -> list[StageSchedule]:
    """Plan the steps of each stage, with fresh samplers; raises UsageError if a stage is left with none."""
    schedules: list[StageSchedule] = []
    for index, stage in enumerate(setup.stages):
        strength = setup.transitions[index - 1].strength if index else setup.strength
        schedules.append(plan_schedule(stage, device, strength=strength, after=schedules[-1] if index else None))
    return schedules


def _done_before(scheduler: Scheduler, begin: int) -> float:
    """The part of the schedule, from 0, that an image which enters at an evaluation has behind it."""
    if not 0 < begin < len(scheduler.timesteps):
        return 0.0
    return 1 - float(scheduler.timesteps[begin]) / int(scheduler.config.num_train_timesteps)


def _why_none(setup: StageSetup, strength: float | None) -> str:
    steps = setup.sampling.steps
    if strength is not None and int(steps * strength) == 0:
        return (
            f"a strength of {strength:g} is that part of {steps} steps, less than one, and the image would stay as it "
            f"is; use a strength of {math.ceil(1e3 / steps) / 1e3:g} or more, or more steps"
        )
    return f"the other model takes over at another part of {steps} steps; use more steps, or switch elsewhere"


def _entered_at(begin: int, log_snr: float, after: StageSchedule | None) -> float | None:
    if after is not None:
        return after.log_snr_cut
    return log_snr if begin else None


def _cut_timestep(scheduler: Scheduler, until: float) -> int:
    steps = int(scheduler.config.num_train_timesteps)
    return round(steps - until * steps)


def _evaluations_above(scheduler: Scheduler, timestep: float, order: int) -> int:
    """Number of evaluations before the first step that begins below a timestep; a step begun above is completed.

    Samplers of order 2 evaluate every level but the first twice: at the end of one step and the beginning of the next.
    """
    above = int((scheduler.timesteps >= timestep).sum())
    return min(above + above % order, len(scheduler.timesteps))


def _not_below(scheduler: Scheduler, begin: int, log_snr: float, order: int) -> int:
    """Begin one step earlier if the first step lies below the remaining noise, which would stay in the image."""
    if begin >= order and begin < len(scheduler.timesteps):
        first = noise_levels(scheduler).log_snr[begin]
        if sigma_of(first) < sigma_of(log_snr) * (1 - _SAME):
            return begin - order
    return begin


def sigma_of(log_snr: float) -> float:
    """The sigma of x = x0 + sigma n at a log-SNR."""
    return math.exp(-log_snr / 2) if log_snr < math.inf else 0.0


def draw_noise(
    shape: tuple[int, ...],
    generator: torch.Generator,
    device: torch.device,
    variation: Variation | None = None,
) -> torch.Tensor:
    """Gaussian noise, drawn on the CPU so that a seed gives the same image on every device."""
    noise = torch.randn(shape, generator=generator, dtype=torch.float32)
    return (noise if variation is None else variation.of_noise(noise)).to(device)


def initial_noise(
    schedule: StageSchedule,
    shape: tuple[int, ...],
    generator: torch.Generator,
    device: torch.device,
    variation: Variation | None = None,
) -> torch.Tensor:
    """Pure noise `(1, c, h, w)` at the sampler's highest level."""
    return draw_noise(shape, generator, device, variation) * getattr(schedule.scheduler, "init_noise_sigma", 1.0)


def add_noise(
    schedule: StageSchedule, clean: torch.Tensor, generator: torch.Generator, variation: Variation | None = None
) -> torch.Tensor:
    """Add noise to clean latents `(1, c, h, w)` at the level of the schedule's first step."""
    return noised(schedule, clean, draw_noise(tuple(clean.shape), generator, clean.device, variation), 0)


def noised(schedule: StageSchedule, clean: torch.Tensor, noise: torch.Tensor, index: int) -> torch.Tensor:
    """Add `noise` `(1, c, h, w)` to clean latents at the level of step `index`, from 0, or where the last step ends."""
    clean_share, noise_share = _mix(schedule, index)
    if state_convention(schedule.levels) == "flow":
        return noise_share * noise + clean_share * clean  # operand order of diffusers: the first decides the strides
    return clean_share * clean + noise_share * noise


def _mix(schedule: StageSchedule, index: int) -> tuple[float, float]:
    """The weights of clean latents and noise at a level, as the sampler's own function mixes them."""
    scheduler, position = schedule.levels, schedule.begin + index
    if hasattr(scheduler, "set_begin_index"):
        scheduler.set_begin_index(position)
        scheduler._step_index = None  # some samplers take the first level queried as their current position
    timestep, one, zero = scheduler.timesteps[position : position + 1], torch.ones(1), torch.zeros(1)
    if hasattr(scheduler, "add_noise"):
        return float(scheduler.add_noise(one, zero, timestep)), float(scheduler.add_noise(zero, one, timestep))
    if hasattr(scheduler, "scale_noise"):
        return float(scheduler.scale_noise(one, timestep, zero)), float(scheduler.scale_noise(zero, timestep, one))
    sigma = float(scheduler.sigmas[position])  # of flow
    return 1 - sigma, sigma


def carry_over(
    latents: torch.Tensor, before: StageSchedule, after: StageSchedule, generator: torch.Generator
) -> torch.Tensor:
    """Convert latents from the end of one schedule to the state that the next schedule's sampler starts from.

    Equal levels in equal conventions pass unchanged. If the next begins higher, the missing noise is added: the
    variances of independent Gaussians add up.
    """
    left, right = state_convention(before.scheduler), state_convention(after.scheduler)
    low, high = sigma_of(before.log_snr_end), sigma_of(after.log_snr_start)
    level = abs(high - low) <= _SAME * max(high, low)
    if left == right and level:
        return latents
    plain = latents * _scale_to_plain(left, low)
    if not level and high > low:
        noise = draw_noise(tuple(plain.shape), generator, plain.device)
        plain = plain + math.sqrt(high**2 - low**2) * noise
    return plain / _scale_to_plain(right, high)


def _scale_to_plain(convention: str, sigma: float) -> float:
    """The factor from a sampler's state to x0 + sigma n: 1 / alpha of its convention."""
    if convention == "ve":
        return 1.0
    return math.sqrt(1 + sigma**2) if convention == "vp" else 1 + sigma


def resolved_stage(
    stage: StageSetup, schedule: StageSchedule, used: ModelUsed, controls: Sequence[ControlUsed]
) -> ResolvedStage:
    """All values that a stage used; its LoRAs are not known here. `controls`: those of the request."""
    true_cfg = stage.sampling.true_cfg_scale
    if true_cfg is None and stage.found.detected.guidance == "embedded":
        true_cfg = 1.0
    return ResolvedStage(
        model=used,
        width=stage.width,
        height=stage.height,
        prompt=stage.prompt,
        negative_prompt=stage.negative_prompt,
        **{one.name: getattr(stage.sampling, one.name) for one in fields(Sampling)} | {"true_cfg_scale": true_cfg},
        log_snr_start=schedule.entered_at,
        log_snr_end=schedule.log_snr_cut,
        timesteps=tuple(float(t) for t in schedule.timesteps),
        sigmas=schedule.sigmas,
        tile=stage.tile,
        controls=tuple(controls[control.index] for control in stage.controls),
    )
