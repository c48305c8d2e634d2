"""What an image is made from."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import torch

from mezzotint.families.family import Conditioning
from mezzotint.protocol import Sampling
from mezzotint.stages.images.input_images import InputImages

_TORCH_SEEDS = 2**32  # of which torch's generator on the CPU uses the lowest bits alone


def seeded(seed: int) -> torch.Generator:
    """A generator on the CPU: torch's own for seeds below 2^32; of larger ones all bits count, by their hash."""
    if seed >= _TORCH_SEEDS:
        seed = int.from_bytes(hashlib.blake2s(seed.to_bytes(8, "little"), digest_size=4).digest(), "little")
    return torch.Generator("cpu").manual_seed(seed)


@dataclass(frozen=True, slots=True, kw_only=True)
class Variation:
    """The noise of another seed, blended into the start noise."""

    seed: int
    strength: float  # 0..1

    @classmethod
    def of(cls, sampling: Sampling) -> "Variation | None":
        """The variation that the options of a first stage ask for; None without a strength."""
        strength = sampling.variation_strength
        return cls(seed=sampling.variation_seed or 0, strength=strength) if strength else None

    def of_noise(self, noise: torch.Tensor) -> torch.Tensor:
        """Move noise of any shape, drawn on the CPU, towards that of the other seed."""
        generator = seeded(self.seed)
        return slerp(noise, torch.randn(noise.shape, generator=generator, dtype=noise.dtype), self.strength)


def slerp(low: torch.Tensor, high: torch.Tensor, share: float) -> torch.Tensor:
    """Spherical interpolation of two tensors of one shape as vectors; a mix of noises then keeps its variance.

    Formula: K. Shoemake, Animating rotation with quaternion curves, SIGGRAPH 1985; angles in float64.
    """
    a, b = low.double().flatten(), high.double().flatten()
    angle = torch.acos((torch.dot(a, b) / (a.norm() * b.norm())).clamp(-1, 1))
    if torch.sin(angle) < 1e-6:  # parallel, or one of them zero
        return torch.lerp(low, high, share)
    weights = torch.sin(torch.stack([(1 - share) * angle, share * angle])) / torch.sin(angle)
    return low * float(weights[0]) + high * float(weights[1])


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageSpec:
    """Everything that determines one image of a loaded cascade."""

    seed: int
    variation: Variation | None = None
    conditionings: Sequence[Conditioning]  # one per stage
    inputs: InputImages
