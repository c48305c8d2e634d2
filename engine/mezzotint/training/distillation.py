"""What a network learns from another, or from itself as it was, in place of the images alone."""

from dataclasses import dataclass

import torch
from torch import Tensor

from mezzotint.training.objective import Asked, Objective

_SOLVER_STEPS = 50
_TIMESTEP_SCALING = 10.0
_SIGMA_DATA = 0.5
_HUBER = 1e-3  # below which differences count by their squares


@dataclass(frozen=True, slots=True, kw_only=True)
class Imitation:
    """What is learned is what the network predicts without the adapter."""

    base: Objective  # of the model

    def draw(self, count: int, generator: torch.Generator) -> Tensor:
        """Noise levels `(count)` for training."""
        return self.base.draw(count, generator)

    def spread(self, count: int) -> Tensor:
        """Noise levels `(count)` at equal distances."""
        return self.base.spread(count)

    def losses(self, asked: Asked, clean: Tensor, noise: Tensor, levels: Tensor, mask: Tensor | None = None) -> Tensor:
        """Loss `(n)` between what the network predicts with the adapter and without it."""
        question = self.base.mixed(clean, noise, levels), self.base.timesteps(levels)
        return self.base.loss(asked.trained(*question), asked.original(*question), levels, mask)


@dataclass(frozen=True, slots=True, kw_only=True)
class Consistency:
    """Every point of a path from noise leads to the same image (arXiv 2310.04378), trained as LoRA (arXiv 2311.05556).

    Models that predict noise or velocity then make an image in few steps of diffusers' `LCMScheduler`, whose timesteps
    and boundary conditions these are. Levels are the timesteps of the teacher's solver, DDIM (arXiv 2010.02502).
    """

    base: Objective  # of the model; not of flow
    stride: int = 20  # timesteps from one of the solver's to the next; LCMScheduler has 50 of 1000

    def draw(self, count: int, generator: torch.Generator) -> Tensor:
        """Timesteps `(count)` for training."""
        return self.stride * torch.randint(1, _SOLVER_STEPS + 1, (count,), generator=generator) - 1

    def spread(self, count: int) -> Tensor:
        """Timesteps `(count)` at equal distances."""
        places = ((torch.arange(count) + 0.5) / count * _SOLVER_STEPS).long()
        return self.stride * (places + 1) - 1

    def losses(self, asked: Asked, clean: Tensor, noise: Tensor, levels: Tensor, mask: Tensor | None = None) -> Tensor:
        """Pseudo-Huber loss `(n)` between the images that a path's neighbouring points lead to.

        `mask` `(n, 1, h, w)` weights the pixels. The averaged network is asked before the trained one, whose
        parameters must not change before its gradients are computed.
        """
        noisy, earlier = self.base.mixed(clean, noise, levels), self.earlier(levels)
        stepped = self.base.mixed(*self.base.parts(noisy, asked.teacher(noisy, levels), levels), earlier)
        wanted = self.consistent(stepped, asked.averaged(stepped, earlier), earlier)
        found = self.consistent(noisy, asked.trained(noisy, levels), levels)
        apart = ((found - wanted).square() + _HUBER**2).sqrt() - _HUBER
        if mask is not None:
            apart = apart * (mask / mask.mean((1, 2, 3), keepdim=True).clamp_min(1e-6))
        return apart.mean((1, 2, 3))

    def earlier(self, levels: Tensor) -> Tensor:
        """The timesteps that the solver goes to."""
        return (levels - self.stride).clamp_min(0)

    def consistent(self, sample: Tensor, output: Tensor, levels: Tensor) -> Tensor:
        """The image that noisy latents lead to; at timestep 0 those latents (arXiv 2310.04378, eq. 9)."""
        clean, _ = self.base.parts(sample, output, levels)
        scaled = _TIMESTEP_SCALING * levels.view(-1, 1, 1, 1).to(sample.dtype)
        power = scaled.square() + _SIGMA_DATA**2
        return _SIGMA_DATA**2 / power * sample + scaled / power.sqrt() * clean
