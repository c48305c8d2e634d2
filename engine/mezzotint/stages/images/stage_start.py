"""What a stage starts from."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from mezzotint.stages.images.latent_mask import LatentMask
from mezzotint.stages.images.low_resolution import LowResolution
from mezzotint.stages.images.masked_image import MaskedImage


@dataclass(frozen=True, slots=True, kw_only=True)
class StageStart:
    """The latents of n images before a stage's first step, and what the stage preserves of their input images."""

    latents: torch.Tensor  # (n, c, h, w)
    latent_mask: LatentMask | None = None  # None: nothing is preserved
    masked_image: MaskedImage | None = None  # None: the stage's denoiser is not an inpainting network
    low_resolution: LowResolution | None = None  # None: the stage's denoiser is no conditional refiner

    @classmethod
    def together(cls, starts: "Sequence[StageStart]") -> "StageStart":
        """Concatenate the starts of several images of one request's shape."""
        if len(starts) == 1:
            return starts[0]
        latent_masks = [one.latent_mask for one in starts if one.latent_mask is not None]
        masked_images = [one.masked_image for one in starts if one.masked_image is not None]
        low_resolutions = [one.low_resolution for one in starts if one.low_resolution is not None]
        return cls(
            latents=torch.cat([one.latents for one in starts]),
            latent_mask=LatentMask.together(latent_masks) if latent_masks else None,
            masked_image=MaskedImage.together(masked_images) if masked_images else None,
            low_resolution=LowResolution.together(low_resolutions) if low_resolutions else None,
        )
