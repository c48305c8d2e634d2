"""What stays of an image while the rest of it is inpainted, in latents."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from PIL import Image

from mezzotint.stages.images.inpaint_canvas import CanvasCrop
from mezzotint.stages.schedule import StageSchedule, draw_noise, noised


@dataclass(frozen=True, slots=True, kw_only=True)
class LatentMask:
    """The latents of an image, the noise that they are seen through, and how far each is inpainted.

    The noise is the same in all steps: what stays is then one image under ever less noise, as in a schedule from it.
    Where the new is to pass into the old, latents stay for a part of the steps (arXiv 2306.00950): their outlines are
    the old ones, which the new goes on from, and late steps join the two.
    """

    clean: torch.Tensor  # (1, c, h, w)
    noise: torch.Tensor  # (1, c, h, w)
    share: torch.Tensor  # (1, 1, h, w), of the steps that make it anew: 0 stays, 1 is anew from the first
    gradual: bool = True  # False: whatever has a share is free in all steps

    @classmethod
    def of(
        cls, sheet: CanvasCrop, encode: Callable[[Image.Image], torch.Tensor], generator: torch.Generator, factor: int
    ) -> "LatentMask":
        """Encode the image of a sheet, and draw the noise; `factor`: pixels of a latent's side."""
        clean = encode(sheet.image).contiguous()  # as diffusers has them here: convolutions round by the layout
        noise = draw_noise(tuple(clean.shape), generator, clean.device)
        return cls(clean=clean, noise=noise, share=shares(sheet, factor).to(clean.device))

    def first(self, schedule: StageSchedule, generator: torch.Generator, *, from_noise: bool) -> torch.Tensor:
        """The first latents of a schedule; `from_noise`: what is all anew begins from noise of the latents' own spread.

        Noise under noise: at the first level of a whole schedule it is what the sampler's own first latents are.
        """
        start = self.clean
        if from_noise:
            start = torch.where(self.share == 1, draw_noise(tuple(start.shape), generator, start.device), start)
        return noised(schedule, start, self.noise, 0)

    def entering(self, schedule: StageSchedule, latents: torch.Tensor) -> torch.Tensor:
        """Latents that another stage has left, at the first level of this schedule."""
        return torch.where(self.share > 0, latents, noised(schedule, self.clean, self.noise, 0))

    def after(self, schedule: StageSchedule, latents: torch.Tensor, index: int) -> torch.Tensor:
        """Latents after a step of the schedule, from 0; what stays is clean after the last."""
        kept = self.clean if schedule.is_clean_after(index) else noised(schedule, self.clean, self.noise, index + 1)
        return torch.where(self._free(schedule, index), latents, kept)

    def over(self, schedule: StageSchedule, clean: torch.Tensor, index: int) -> torch.Tensor:
        """An estimate of the clean latents, made in such a step, with what stays in its place."""
        return torch.where(self._free(schedule, index), clean, self.clean)

    def _free(self, schedule: StageSchedule, index: int) -> torch.Tensor:
        left = 1 - (index + 1) / len(schedule.timesteps) if self.gradual else 0.0
        return self.share > left


def shares(sheet: CanvasCrop, factor: int) -> torch.Tensor:
    """For each latent `(1, 1, h, w)` how much of the new shows there, in the mean of the pixels that are inpainted.

    Thin lines count, however little of a latent they cover.
    """
    anew, shown = (_blocks(image, factor) for image in (sheet.anew, sheet.shown))
    touched = (anew > 0).sum(axis=(1, 3))
    share = np.where(anew > 0, shown, 0).sum(axis=(1, 3)) / (np.maximum(touched, 1) * 255)
    # However thin the edge: what is inpainted at all is free in the last step.
    share = np.where(touched > 0, np.maximum(share, 1e-3), 0)
    return torch.from_numpy(share.astype(np.float32))[None, None]


def _blocks(image: Image.Image, factor: int) -> npt.NDArray[np.float64]:
    pixels = np.asarray(image).astype(np.float64)
    height, width = pixels.shape
    return pixels.reshape(height // factor, factor, width // factor, factor)
