"""The preserved part of an image during inpainting, in latent space."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import torch
from PIL import Image

from mezzotint.stages.image_spec import Variation
from mezzotint.stages.images.inpaint_canvas import CanvasCrop
from mezzotint.stages.schedule import StageSchedule, draw_noise, noised


@dataclass(frozen=True, slots=True, kw_only=True)
class LatentMask:
    """The latents of n images, the noise added to them, and how far each latent is inpainted.

    The noise is the same in all steps, so the preserved part is one image under decreasing noise, as in a run from it.
    At feathered edges latents are preserved for part of the steps (arXiv 2306.00950): the outlines there come from the
    original, the inpainted part continues them, and late steps blend the two.
    """

    clean: torch.Tensor  # (n, c, h, w)
    noise: torch.Tensor  # (n, c, h, w)
    share: torch.Tensor  # (n, 1, h, w), share of steps that inpaint a latent: 0 preserves it, 1 inpaints from the first
    gradual: bool = True  # False: latents with any share are free in all steps

    @classmethod
    def of(
        cls,
        crop: CanvasCrop,
        encode: Callable[[Image.Image], torch.Tensor],
        generator: torch.Generator,
        factor: int,
        variation: Variation | None = None,
    ) -> "LatentMask":
        """Encode the crop's image and draw the noise; `factor`: pixels per latent side."""
        clean = encode(crop.image).contiguous()  # as in diffusers: rounding in convolutions depends on the layout
        noise = draw_noise(tuple(clean.shape), generator, clean.device, variation)
        return cls(clean=clean, noise=noise, share=shares(crop, factor).to(clean.device))

    @classmethod
    def together(cls, masks: "Sequence[LatentMask]") -> "LatentMask":
        """Concatenate the masks of several images in one stage."""
        return replace(
            masks[0],
            clean=torch.cat([one.clean for one in masks]),
            noise=torch.cat([one.noise for one in masks]),
            share=torch.cat([one.share for one in masks]),
        )

    def first(self, schedule: StageSchedule, generator: torch.Generator, *, from_noise: bool) -> torch.Tensor:
        """The first latents of a schedule; `from_noise` starts fully inpainted latents from noise of unit variance.

        Noised further, at the first level of a full schedule they equal the sampler's own initial latents.
        """
        start = self.clean
        if from_noise:
            start = torch.where(self.share == 1, draw_noise(tuple(start.shape), generator, start.device), start)
        return noised(schedule, start, self.noise, 0)

    def entering(self, schedule: StageSchedule, latents: torch.Tensor) -> torch.Tensor:
        """Latents from the previous stage, with the preserved part at the first level of this schedule."""
        return torch.where(self.share > 0, latents, noised(schedule, self.clean, self.noise, 0))

    def after(self, schedule: StageSchedule, latents: torch.Tensor, index: int) -> torch.Tensor:
        """Latents after step `index`, from 0, with the preserved part restored; it is clean after the last."""
        kept = self.clean if schedule.is_clean_after(index) else noised(schedule, self.clean, self.noise, index + 1)
        return torch.where(self._free(schedule, index), latents, kept)

    def over(self, schedule: StageSchedule, clean: torch.Tensor, index: int) -> torch.Tensor:
        """An estimate of the clean latents from step `index`, with the preserved part restored."""
        return torch.where(self._free(schedule, index), clean, self.clean)

    def _free(self, schedule: StageSchedule, index: int) -> torch.Tensor:
        left = 1 - (index + 1) / len(schedule.timesteps) if self.gradual else 0.0
        return self.share > left


def shares(crop: CanvasCrop, factor: int) -> torch.Tensor:
    """The mean opacity `(1, 1, h, w)` of each latent over its inpainted pixels only.

    Thin lines therefore count, however little of a latent they cover.
    """
    mask, opacity = (_blocks(image, factor) for image in (crop.mask, crop.opacity))
    touched = (mask > 0).sum(axis=(1, 3))
    share = np.where(mask > 0, opacity, 0).sum(axis=(1, 3)) / (np.maximum(touched, 1) * 255)
    # However thin the edge: anything inpainted at all is free in the last step.
    share = np.where(touched > 0, np.maximum(share, 1e-3), 0)
    return torch.from_numpy(share.astype(np.float32))[None, None]


def _blocks(image: Image.Image, factor: int) -> npt.NDArray[np.float64]:
    pixels = np.asarray(image).astype(np.float64)
    height, width = pixels.shape
    return pixels.reshape(height // factor, factor, width // factor, factor)
