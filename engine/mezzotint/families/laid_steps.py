"""Steps at the levels of a named schedule, put into a diffusers scheduler of any class."""

from typing import Any

import numpy as np
import torch

from mezzotint.families.sigma_schedules import Sigmas, TrainedLevels, flow_levels, named_sigmas, table_levels

_BELOW_NOISE = 0.9999  # where ComfyUI begins instead of at pure noise, whose log-SNR is infinite


def lay_steps(
    scheduler: Any,  # noqa: ANN401
    schedule: str,
    steps: int,
    device: "torch.device | str",
    *,
    flow_shift: float | None,
    mu: object,
) -> None:
    """Set sigmas and timesteps; ValueError for too many steps. `flow_shift` and `mu`: of a flow model."""
    scheduler.set_timesteps(2, device=device, **({} if mu is None else {"mu": mu}))  # resets the rest of its state
    train = int(scheduler.config.num_train_timesteps)
    levels = table_levels(_trained_sigmas(scheduler)) if flow_shift is None else flow_levels(flow_shift, train)
    sigmas = named_sigmas(schedule, levels, steps)
    whole = flow_shift is None and not scheduler.timesteps.is_floating_point()
    if flow_shift is not None:
        if scheduler.config.get("use_flow_sigmas"):  # these solvers count in log-SNR
            sigmas = np.minimum(sigmas, levels.at(np.array(_BELOW_NOISE)))
        timesteps = sigmas * train
    else:
        timesteps = _timesteps(levels, sigmas)
        if whole:
            timesteps = np.rint(timesteps)
            if not hasattr(scheduler, "sigmas") and bool(np.any(np.diff(timesteps) == 0)):
                raise ValueError("its timesteps would coincide")
    _put(scheduler, sigmas, torch.from_numpy(timesteps).to(device, torch.int64 if whole else torch.float32), steps)


def _put(
    scheduler: Any,  # noqa: ANN401
    sigmas: Sigmas,
    times: torch.Tensor,
    steps: int,
) -> None:
    ends = torch.from_numpy(np.append(sigmas, 0.0)).to(torch.float32)
    if scheduler.order == 2:  # evaluated at the end of each step, and again at the beginning of the next
        times = torch.cat([times[:1], times[1:].repeat_interleave(2)])
        ends = torch.cat([ends[:1], ends[1:-1].repeat_interleave(2), ends[-1:]])
    scheduler.num_inference_steps = steps
    scheduler.timesteps = times
    if hasattr(scheduler, "sigmas"):
        scheduler.sigmas = ends.to(scheduler.sigmas.device)


def _trained_sigmas(scheduler: Any) -> Sigmas:  # noqa: ANN401
    """All sigmas, ascending, in the float32 arithmetic of the schedulers."""
    abar = scheduler.alphas_cumprod.cpu().clamp_min(2.0**-24)
    return np.asarray((((1 - abar) / abar) ** 0.5).double().numpy())


def _timesteps(levels: TrainedLevels, sigmas: Sigmas) -> Sigmas:
    return np.interp(np.log(sigmas), np.log(levels.table), np.arange(len(levels.table)))
