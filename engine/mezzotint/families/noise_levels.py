"""The noise level of each scheduler step, in the parametrization that the sampler uses."""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    import numpy as np
    import torch

StateConvention = Literal["ve", "vp", "flow"]

_LOWEST_LOG_SNR = -24 * math.log(2)  # abar of 2^-24, at which diffusers clamps zero terminal SNR
_ROUNDING = 1e-4  # of a timestep


@dataclass(frozen=True, slots=True, kw_only=True)
class NoiseLevels:
    """The steps of a schedule, one per denoiser call.

    `sigmas` has one more item than steps: noise over signal, sqrt((1 - abar) / abar) of arXiv 2206.00364, or in 0..1
    for flow (arXiv 2210.02747); the last is 0. `log_snr`: log of signal power over noise power.
    """

    timesteps: tuple[float, ...]
    sigmas: tuple[float, ...]
    log_snr: tuple[float, ...]


def state_convention(scheduler: Any) -> StateConvention:  # noqa: ANN401
    """How the sample combines image and noise at sigma s.

    ve: x0 + s n. vp: (x0 + s n) / sqrt(1 + s^2). flow: (1 - s) x0 + s n.
    """
    name = type(scheduler).__name__
    if name.startswith(("FlowMatch", "LTXEulerAncestralRF")) or scheduler.config.get("use_flow_sigmas"):
        return "flow"
    return "ve" if name.startswith(("Euler", "Heun")) else "vp"


def noise_levels(scheduler: Any) -> NoiseLevels:  # noqa: ANN401
    """The noise levels set by `set_timesteps`."""
    timesteps = tuple(float(timestep) for timestep in scheduler.timesteps)
    if hasattr(scheduler, "sigmas"):
        sigmas = tuple(float(sigma) for sigma in scheduler.sigmas[: len(timesteps)])
    else:
        sigmas = tuple(_table_sigma(scheduler, timestep) for timestep in timesteps)
    convention = state_convention(scheduler)
    return NoiseLevels(
        timesteps=timesteps,
        sigmas=(*sigmas, 0.0),
        log_snr=tuple(_log_snr(sigma, convention) for sigma in sigmas),
    )


def log_snr_at(scheduler: Any, timestep: float) -> float:  # noqa: ANN401
    """Log-SNR of a training timestep; log sigma is interpolated between integer timesteps, as in k-diffusion."""
    convention = state_convention(scheduler)
    if convention == "flow":
        return _log_snr(timestep / scheduler.config.num_train_timesteps, convention)
    return _log_snr(_table_sigma(scheduler, timestep), convention)


def timestep_at(scheduler: Any, log_snr: float) -> float:  # noqa: ANN401
    """Training timestep of a log-SNR, clamped to the training range; an integer if within rounding error of one."""
    if state_convention(scheduler) == "flow":
        timestep = scheduler.config.num_train_timesteps / (1 + math.exp(log_snr / 2))
    else:
        import numpy as np

        levels = np.log(_training_sigmas(scheduler))
        timestep = float(np.interp(-log_snr / 2, levels, np.arange(len(levels))))
    return float(round(timestep)) if abs(timestep - round(timestep)) < _ROUNDING else timestep


def denoised(
    scheduler: Any,  # noqa: ANN401
    sample: "torch.Tensor",
    model_output: "torch.Tensor",
    timestep: "torch.Tensor | float",
) -> "torch.Tensor":
    """The x0 estimate `(b, c, h, w)` at the upcoming step, from the unscaled sample and the model output.

    epsilon, v_prediction: arXiv 2202.00512, section 4 and appendix D, as x0 = alpha x - sigma v in vp;
    flow_prediction: x0 = x - s v (arXiv 2210.02747, with x = (1 - s) x0 + s n).
    """
    sigma = _sigma_now(scheduler, timestep)
    convention = state_convention(scheduler)
    sample = sample.float()
    if convention == "flow":
        return sample - sigma * model_output
    alpha = 1 / math.sqrt(1 + sigma**2)
    if convention == "vp":
        sample = sample / alpha  # now x0 + sigma n
    if scheduler.config.prediction_type == "v_prediction":
        return alpha**2 * sample - alpha * sigma * model_output
    return sample - sigma * model_output


def _sigma_now(scheduler: Any, timestep: "torch.Tensor | float") -> float:  # noqa: ANN401
    if not hasattr(scheduler, "sigmas"):
        return _table_sigma(scheduler, float(timestep))
    index = scheduler.step_index if scheduler.step_index is not None else scheduler.begin_index
    return float(scheduler.sigmas[scheduler.index_for_timestep(timestep) if index is None else index])


def _log_snr(sigma: float, convention: StateConvention) -> float:
    if sigma <= 0.0:
        return math.inf
    if convention == "flow":
        return max(_LOWEST_LOG_SNR, 2 * math.log((1 - sigma) / sigma)) if sigma < 1.0 else _LOWEST_LOG_SNR
    return -2 * math.log(sigma)


def _table_sigma(scheduler: Any, timestep: float) -> float:  # noqa: ANN401
    import numpy as np

    levels = np.log(_training_sigmas(scheduler))
    return float(np.exp(np.interp(timestep, np.arange(len(levels)), levels)))


def _training_sigmas(scheduler: Any) -> "np.ndarray[Any, Any]":  # noqa: ANN401
    """Sigma of every training timestep, ascending, in float64."""
    # Some schedulers move the table to the latents' device.
    abar = scheduler.alphas_cumprod.cpu().double().clamp_min(2.0**-24)
    return ((1 - abar) / abar).sqrt().numpy()  # type: ignore[no-any-return]
