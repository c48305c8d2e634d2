"""Extra inputs of an inpainting network: the mask, and the latents of the masked image.

As in diffusers' inpainting pipelines: hidden pixels are grey, and the mask of a latent is that of its first pixel, or
has a channel per pixel. Without a mask everything is hidden, as in A1111 and ComfyUI, so that such a model can also
generate whole images.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from PIL import Image

from mezzotint.families.family import Conditioning
from mezzotint.stages.images.inpaint_canvas import CanvasCrop
from mezzotint.stages.images.request_images import Size

Encode = Callable[[Image.Image, Image.Image], torch.Tensor]  # latents of an image with its masked part hidden


@dataclass(frozen=True, slots=True, kw_only=True)
class MaskedImage:
    """The extra inputs for a batch of n images."""

    mask: torch.Tensor  # (n, 1 or pixels per latent, h, w), 1 where it is inpainted
    latents: torch.Tensor  # (n, c, h, w)

    @classmethod
    def of(cls, crop: CanvasCrop, encode: Encode, factor: int, channels: int) -> "MaskedImage":
        """The inputs for a crop; `factor`: pixels per latent side; `channels`: of the mask."""
        latents = encode(crop.image, crop.mask)
        mask = torch.from_numpy(np.asarray(crop.mask) >= 128)[None, None].to(latents)
        pixels = torch.nn.functional.pixel_unshuffle(mask, factor)  # (1, factor x factor, h, w)
        return cls(mask=pixels[:, :channels], latents=latents)

    @classmethod
    def together(cls, inputs: "Sequence[MaskedImage]") -> "MaskedImage":
        """Concatenate the inputs of several images of one size."""
        return cls(mask=torch.cat([one.mask for one in inputs]), latents=torch.cat([one.latents for one in inputs]))

    def add_to(self, conditioning: Conditioning, dtype: torch.dtype) -> Conditioning:
        """Return the conditioning with these inputs added, for both guidance halves."""
        halves = 2 if conditioning.guided else 1
        inputs = {"mask": self.mask, "masked": self.latents}
        rows = {name: torch.cat([each] * halves).to(dtype) for name, each in inputs.items()}
        return replace(conditioning, tensors={**conditioning.tensors, **rows})


def all_hidden(size: Size) -> CanvasCrop:
    """A crop with everything masked."""
    white = Image.new("L", size, 255)
    return CanvasCrop(image=Image.new("RGB", size), mask=white, opacity=white)
