"""What an inpainting network sees beside the sample: the mask, and the latents of the image without what it hides.

As in diffusers' inpainting pipelines: hidden pixels are grey, and a latent is masked where its first pixel is, or has
a channel for each of its pixels. Without a mask all is hidden, as A1111 and ComfyUI have it, so that such a model makes
whole images, too.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from PIL import Image

from mezzotint.families.family import Conditioning
from mezzotint.stages.images.inpaint_canvas import CanvasCrop
from mezzotint.stages.images.request_images import Size

Encode = Callable[[Image.Image, Image.Image], torch.Tensor]  # latents of an image without what is hidden in it


@dataclass(frozen=True, slots=True, kw_only=True)
class MaskedImage:
    """Of n images that are denoised together."""

    mask: torch.Tensor  # (n, 1 or pixels of a latent, h, w), 1 where it is painted anew
    latents: torch.Tensor  # (n, c, h, w)

    @classmethod
    def of(cls, sheet: CanvasCrop, encode: Encode, factor: int, channels: int) -> "MaskedImage":
        """What is seen of a sheet; `factor`: pixels of a latent's side; `channels`: of the mask."""
        latents = encode(sheet.image, sheet.anew)
        mask = torch.from_numpy(np.asarray(sheet.anew) >= 128)[None, None].to(latents)
        pixels = torch.nn.functional.pixel_unshuffle(mask, factor)  # (1, factor x factor, h, w)
        return cls(mask=pixels[:, :channels], latents=latents)

    @classmethod
    def together(cls, seen: "Sequence[MaskedImage]") -> "MaskedImage":
        """Those of several images of one size."""
        return cls(mask=torch.cat([one.mask for one in seen]), latents=torch.cat([one.latents for one in seen]))

    def beside(self, conditioning: Conditioning, dtype: torch.dtype) -> Conditioning:
        """A conditioning with this in it, for each half of the guidance."""
        halves = 2 if conditioning.guided else 1
        seen = {"mask": self.mask, "masked": self.latents}
        rows = {name: torch.cat([each] * halves).to(dtype) for name, each in seen.items()}
        return replace(conditioning, tensors={**conditioning.tensors, **rows})


def all_hidden(size: Size) -> CanvasCrop:
    """The sheet of an image of which nothing stays."""
    white = Image.new("L", size, 255)
    return CanvasCrop(image=Image.new("RGB", size), anew=white, shown=white)
