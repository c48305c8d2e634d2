"""The input of a conditional refiner: the latents of a smaller image, with a little noise (arXiv 2106.15282).

The noise (noise conditioning augmentation, section 4.2) hides what the stage before does not do like real images; the
network is told its level.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch

from mezzotint.families.architectures.table import LOW_RESOLUTION
from mezzotint.families.family import Conditioning, Scheduler
from mezzotint.families.noise_levels import log_snr_at, state_convention
from mezzotint.stages.schedule import draw_noise, sigma_of


@dataclass(frozen=True, slots=True, kw_only=True)
class LowResolution:
    """The smaller images of a batch of n."""

    latents: torch.Tensor  # (n, c, h, w), noised
    timesteps: torch.Tensor  # (n,), float32: the noise's level, from 0 to 1000

    @classmethod
    def of(cls, clean: torch.Tensor, noise: float, scheduler: Scheduler, generator: torch.Generator) -> "LowResolution":
        """Add noise to clean latents `(1, c, h, w)`; `noise`: from 0 to 1, a part of the training timesteps."""
        timestep = noise * int(scheduler.config.num_train_timesteps)
        drawn = draw_noise(tuple(clean.shape), generator, clean.device)
        clean_share, noise_share = _mix(scheduler, timestep)
        return cls(
            latents=clean_share * clean + noise_share * drawn,
            timesteps=torch.full((len(clean),), timestep, dtype=torch.float32, device=clean.device),
        )

    @classmethod
    def together(cls, inputs: "Sequence[LowResolution]") -> "LowResolution":
        """Concatenate the inputs of several images of one size."""
        latents = torch.cat([one.latents for one in inputs])
        return cls(latents=latents, timesteps=torch.cat([one.timesteps for one in inputs]))

    def add_to(self, conditioning: Conditioning, dtype: torch.dtype) -> Conditioning:
        """Return the conditioning with these inputs added, for both guidance halves."""
        halves = 2 if conditioning.guided else 1
        inputs = (self.latents.to(dtype), self.timesteps)
        rows = {name: torch.cat([each] * halves) for name, each in zip(LOW_RESOLUTION, inputs, strict=True)}
        return replace(conditioning, tensors={**conditioning.tensors, **rows})


def _mix(scheduler: Scheduler, timestep: float) -> tuple[float, float]:
    """The weights of clean latents and noise at a training timestep, as the refiner itself is trained to see them."""
    if timestep == 0:
        return 1.0, 0.0
    if state_convention(scheduler) == "flow":
        share = timestep / int(scheduler.config.num_train_timesteps)
        return 1 - share, share
    sigma = sigma_of(log_snr_at(scheduler, timestep))
    return 1 / math.sqrt(1 + sigma**2), sigma / math.sqrt(1 + sigma**2)
