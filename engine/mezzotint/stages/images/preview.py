"""Previews: by a small decoder, or by a matrix from latents to colours that is fitted to the model's VAE."""

import base64
import io
from abc import ABC, abstractmethod

import torch
from PIL import Image
from torch import Tensor

from mezzotint.families.autoencoder import encode_pixels
from mezzotint.families.family import Network
from mezzotint.families.preview_decoder.reading import MOST_TILE, PreviewDecoder
from mezzotint.memory.shortage import is_shortage
from mezzotint.memory.tiling import SMALLEST_TILE

_LARGEST_SIDE = 384
_LARGEST_ENLARGEMENT = 4
_QUALITY = 80


class Previewer(ABC):
    """Makes previews of one stage's latents."""

    @abstractmethod
    def colours(self, latents: Tensor) -> Tensor | None:
        """Colours `(h, w, 3)`, about -1..1, of latents `(1, c, h, w)`, on any device; None if memory is too short."""

    def image(self, latents: Tensor) -> Image.Image | None:
        """A preview image of latents `(1, c, h, w)`; None if memory is too short."""
        colours = self.colours(latents)
        if colours is None:
            return None
        array = ((colours.clamp(-1, 1) + 1) * 127.5).round().to(torch.uint8).cpu().numpy()
        small = Image.fromarray(array)
        scale = max(1, min(_LARGEST_ENLARGEMENT, _LARGEST_SIDE // max(small.size)))
        return small.resize((small.width * scale, small.height * scale), Image.Resampling.BICUBIC)

    def jpeg(self, latents: Tensor) -> bytes | None:
        """The preview as a JPEG file; None if memory is too short."""
        image = self.image(latents)
        if image is None:
            return None
        buffer = io.BytesIO()
        image.save(buffer, "JPEG", quality=_QUALITY)
        return buffer.getvalue()


class LinearPreviewer(Previewer):
    """Maps one VAE's latents to colours.

    The VAE encodes a few images of smooth colours once; least squares from each latent to the mean colour of its pixels
    gives the matrix `(channels + 1, 3)`.
    """

    def __init__(self, vae: Network, factor: int) -> None:
        fields = _colour_fields(side=8 * factor)
        latents = encode_pixels(vae, fields, torch.Generator().manual_seed(0)).cpu().float()
        colours = torch.nn.functional.avg_pool2d(fields, factor)
        known = latents.permute(0, 2, 3, 1).reshape(-1, latents.shape[1])
        known = torch.cat([known, torch.ones(len(known), 1)], dim=1)
        wanted = colours.permute(0, 2, 3, 1).reshape(-1, 3)
        self.matrix = torch.linalg.lstsq(known, wanted, driver="gelsd").solution

    def colours(self, latents: Tensor) -> Tensor:
        """One colour for each latent."""
        rows = latents[0].float().cpu().permute(1, 2, 0)
        colours: Tensor = rows @ self.matrix[:-1] + self.matrix[-1]
        return colours


class SmallPreviewer(Previewer):
    """Decodes latents where they are, in tiles; large images are reduced there."""

    def __init__(
        self,
        decoder: PreviewDecoder,
        device: torch.device,
        dtype: torch.dtype,
        *,
        patch: int = 1,
        room: int | None = None,
    ) -> None:
        """`patch`: latents that are sampled as one, along a side; `room`: bytes planned for activations, None for any.

        Previews are made between steps, so they take the place of the denoiser's activations: of half of them, since
        some stay, such as a prompt's keys and values.
        """
        decoder.network.to(device, dtype)
        self._decoder, self._patch, self._tile = decoder, patch, MOST_TILE
        self._room = None if room is None else room // 2

    def colours(self, latents: Tensor) -> Tensor | None:
        """The decoded image with sides of at most 384 pixels; smaller tiles are tried if memory is short."""
        fitting = self._decoder.tile(latents, self._patch, self._room)
        while self._tile >= SMALLEST_TILE:
            try:
                return _reduced(self._decoder.pixels(latents, self._patch, min(self._tile, fitting)))
            except Exception as error:
                if not is_shortage(error):
                    raise
            self._tile //= 2
        return None


def as_text(jpeg: bytes) -> str:
    """A JPEG base64-encoded for an event."""
    return base64.b64encode(jpeg).decode("ascii")


def _reduced(pixels: Tensor) -> Tensor:
    """Pixels `(1, 3, h, w)` as colours `(h, w, 3)` with a longer side of at most 384, each a mean; NaN becomes grey."""
    pixels = pixels.float().nan_to_num(0.0)
    longer = max(pixels.shape[-2:])
    if longer > _LARGEST_SIDE:
        size = [max(1, round(side * _LARGEST_SIDE / longer)) for side in pixels.shape[-2:]]
        pixels = torch.nn.functional.interpolate(pixels, size=size, mode="area")
    return pixels[0].permute(1, 2, 0)


def _colour_fields(side: int, count: int = 8) -> Tensor:
    """Smooth random colours `(count, 3, side, side)` in -1..1: a 3x3 grid of colours, enlarged."""
    grid = torch.rand((count, 3, 3, 3), generator=torch.Generator().manual_seed(0)) * 2 - 1
    return torch.nn.functional.interpolate(grid, size=(side, side), mode="bilinear", align_corners=True)
