"""What stays of a picture while the rest of it is made anew, in latents."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from PIL import Image

from mezzotint.stages.plate import Sheet
from mezzotint.stages.schedule import Walk, draw_noise, noised


@dataclass(frozen=True, slots=True, kw_only=True)
class Keep:
    """The latents of a picture, the noise that they are seen through, and which of them are made anew.

    The noise is the same in all steps: what stays is then one picture under ever less noise, as in a walk from it.
    """

    clean: torch.Tensor  # (1, c, h, w)
    noise: torch.Tensor  # (1, c, h, w)
    anew: torch.Tensor  # (1, 1, h, w), true where the walk decides

    @classmethod
    def of(
        cls, sheet: Sheet, encode: Callable[[Image.Image], torch.Tensor], generator: torch.Generator, factor: int
    ) -> "Keep":
        """Encode the picture of a sheet, and draw the noise; `factor`: pixels of a latent's side."""
        clean = encode(sheet.picture)
        noise = draw_noise(tuple(clean.shape), generator, clean.device)
        return cls(clean=clean, noise=noise, anew=cells(sheet.anew, factor).to(clean.device))

    def first(self, walk: Walk, generator: torch.Generator, *, from_noise: bool) -> torch.Tensor:
        """The first latents of a walk; `from_noise`: what is made anew begins from noise of the latents' own spread.

        Noise under noise: at the first level of a whole schedule it is what the sampler's own first latents are.
        """
        start = self.clean
        if from_noise:
            start = self.over(draw_noise(tuple(start.shape), generator, start.device))
        return noised(walk, start, self.noise, walk.timesteps[:1])

    def entering(self, walk: Walk, latents: torch.Tensor) -> torch.Tensor:
        """Latents that another stage has left, at the first level of this walk."""
        return torch.where(self.anew, latents, noised(walk, self.clean, self.noise, walk.timesteps[:1]))

    def after(self, walk: Walk, latents: torch.Tensor, index: int) -> torch.Tensor:
        """Latents after a step of the walk, from 0; what stays is clean after the last."""
        level = walk.after(index)
        if level is None:
            return self.over(latents)
        return torch.where(self.anew, latents, noised(walk, self.clean, self.noise, level))

    def over(self, clean: torch.Tensor) -> torch.Tensor:
        """Clean latents with what stays in its place."""
        return torch.where(self.anew, clean, self.clean)


def cells(mask: Image.Image, factor: int) -> torch.Tensor:
    """Which latents `(1, 1, h, w)` a mask touches: thin lines count, however little of a latent they cover."""
    pixels = np.asarray(mask) > 0
    height, width = pixels.shape
    touched = pixels.reshape(height // factor, factor, width // factor, factor).any(axis=(1, 3))
    return torch.from_numpy(touched)[None, None]
