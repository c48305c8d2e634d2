"""What a network is trained to predict: noise levels, noisy latents, and the loss between prediction and target."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import Tensor

from mezzotint.errors import UsageError
from mezzotint.families.family import Family, ModelSources
from mezzotint.families.noise_levels import state_convention
from mezzotint.families.samplers import build_scheduler, resolve_scheduler
from mezzotint.training_protocol import LossWeighting

_TIMESTEPS = 1000
_STEPS = 20  # of the schedule from which a flow model's shift is taken
Levels = Literal["uniform", "logit-normal"]
Ask = Callable[[Tensor, Tensor], Tensor]  # the output for samples (n, c, h, w) at timesteps (n), on the CPU


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """The network as it is asked about a batch."""

    trained: Ask
    averaged: Ask  # with the average of what is trained, if one is kept; without gradients
    original: Ask  # without what is trained, and without gradients
    teacher: Ask  # the same with guidance


@dataclass(frozen=True, slots=True, kw_only=True)
class Objective:
    """Noise levels are sigmas in 0..1 of x = (1 - sigma) x0 + sigma n for flow, otherwise timesteps from 0."""

    prediction: str  # flow_prediction, epsilon or v_prediction
    levels: Levels = "uniform"  # of flow, before the shift
    shift: float = 1.0  # of flow: sigma = shift u / (1 + (shift - 1) u)
    abar: Tensor | None = None  # `(1000)`: share of the signal's power at each timestep; None for flow
    weighting: LossWeighting = "none"
    gamma: float = 5.0  # of min-SNR

    def draw(self, count: int, generator: torch.Generator) -> Tensor:
        """Noise levels `(count)` for training."""
        if self.abar is not None:
            return torch.randint(len(self.abar), (count,), generator=generator)
        if self.levels == "logit-normal":  # arXiv 2403.03206, section 3.1
            even = torch.randn(count, generator=generator).sigmoid()
        else:
            even = torch.rand(count, generator=generator)
        return self._shifted(even)

    def spread(self, count: int) -> Tensor:
        """Noise levels `(count)` at equal distances, for validation."""
        even = (torch.arange(count) + 0.5) / count
        return self._shifted(even) if self.abar is None else (even * len(self.abar)).long()

    def timesteps(self, levels: Tensor) -> Tensor:
        """What the network is given for these levels."""
        return levels * _TIMESTEPS if self.abar is None else levels

    def mixed(self, clean: Tensor, noise: Tensor, levels: Tensor) -> Tensor:
        """Noisy latents `(n, c, h, w)` at levels `(n)`."""
        signal, noisy = self._shares(levels)
        return signal * clean + noisy * noise

    def target(self, clean: Tensor, noise: Tensor, levels: Tensor) -> Tensor:
        """What the network should predict; v: arXiv 2202.00512, section 4; flow: arXiv 2210.02747."""
        if self.prediction == "flow_prediction":
            return noise - clean
        if self.prediction == "epsilon":
            return noise
        signal, noisy = self._shares(levels)
        return signal * noise - noisy * clean

    def parts(self, sample: Tensor, output: Tensor, levels: Tensor) -> tuple[Tensor, Tensor]:
        """Clean latents and noise `(n, c, h, w)` that a network's output says noisy latents are mixed of."""
        signal, noisy = self._shares(levels)
        if self.prediction == "flow_prediction":
            return sample - noisy * output, sample + signal * output
        if self.prediction == "epsilon":
            return (sample - noisy * output) / signal, output
        return signal * sample - noisy * output, noisy * sample + signal * output

    def losses(self, asked: Asked, clean: Tensor, noise: Tensor, levels: Tensor, mask: Tensor | None = None) -> Tensor:
        """Loss `(n)` of what the trained network predicts for clean latents with noise."""
        predicted = asked.trained(self.mixed(clean, noise, levels), self.timesteps(levels))
        return self.loss(predicted, self.target(clean, noise, levels), levels, mask)

    def loss(self, predicted: Tensor, wanted: Tensor, levels: Tensor, mask: Tensor | None = None) -> Tensor:
        """Weighted mean squared error `(n)` of each image; `mask` `(n, 1, h, w)` weights the pixels."""
        squares = (predicted.float() - wanted.float()).square()
        if mask is not None:
            share = mask.mean((1, 2, 3), keepdim=True).clamp_min(1e-6)
            squares = squares * (mask / share)
        return squares.mean((1, 2, 3)) * self._weights(levels)

    def _shifted(self, even: Tensor) -> Tensor:
        return self.shift * even / (1 + (self.shift - 1) * even)

    def _shares(self, levels: Tensor) -> tuple[Tensor, Tensor]:
        """Factors `(n, 1, 1, 1)` of signal and noise."""
        levels = levels.view(-1, 1, 1, 1)
        if self.abar is None:
            return 1 - levels, levels
        abar = self.abar[levels]
        return abar.sqrt(), (1 - abar).sqrt()

    def _weights(self, levels: Tensor) -> Tensor:
        """min-SNR (arXiv 2303.09556) or debiased estimation (arXiv 2310.08442), for predictions of noise or v."""
        if self.abar is None or self.weighting == "none":
            return torch.ones(len(levels))
        snr = self.abar[levels] / (1 - self.abar[levels]).clamp_min(1e-12)
        is_v = self.prediction == "v_prediction"
        if self.weighting == "debiased":
            return 1 / (snr + 1 if is_v else snr.clamp(1e-4, 1e3)).sqrt()
        return snr.clamp_max(self.gamma) / (snr + 1 if is_v else snr)


def objective_of(
    family: Family, sources: ModelSources, width: int, height: int, *, levels: Levels, weighting: LossWeighting
) -> Objective:
    """The objective that a model was trained with; `width` and `height`, in pixels, decide some models' shift.

    Raises UsageError for predictions that cannot be trained here.
    """
    flow = family.flow_steps(sources, width, height, _STEPS)
    resolved = resolve_scheduler(
        sources.scheduler, sampler=None, schedule=None, prediction_type=None, zero_terminal_snr=None, flow=flow
    )
    scheduler = build_scheduler(resolved)
    if state_convention(scheduler) == "flow":
        shift = math.exp(flow.mu) if flow is not None and flow.mu is not None else _fixed_shift(scheduler)
        return Objective(prediction="flow_prediction", levels=levels, shift=shift)
    if resolved.prediction_type not in ("epsilon", "v_prediction"):
        raise UsageError(f"{sources.family} predicts {resolved.prediction_type}, which cannot be trained here")
    abar = scheduler.alphas_cumprod.detach().float().cpu().clone()
    return Objective(prediction=resolved.prediction_type, abar=abar, weighting=weighting)


def _fixed_shift(scheduler: Any) -> float:  # noqa: ANN401  # diffusers has no type for a scheduler
    for name in ("shift", "flow_shift"):
        value = scheduler.config.get(name)
        if isinstance(value, int | float) and value > 0:
            return float(value)
    return 1.0
