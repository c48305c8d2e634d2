"""Cheap previews: a small matrix from latents to colours, fitted to the model's VAE."""

import base64
import io

import torch
from PIL import Image

from mezzotint.families.autoencoder import encode_pixels
from mezzotint.families.family import Network

_LARGEST_SIDE = 384
_LARGEST_ENLARGEMENT = 4
_QUALITY = 80


class Previewer:
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

    def image(self, latents: torch.Tensor) -> Image.Image:
        """A preview image of latents `(1, c, h, w)`."""
        rows = latents[0].float().cpu().permute(1, 2, 0)
        colours = rows @ self.matrix[:-1] + self.matrix[-1]
        array = ((colours.clamp(-1, 1) + 1) * 127.5).round().to(torch.uint8).numpy()
        small = Image.fromarray(array)
        scale = max(1, min(_LARGEST_ENLARGEMENT, _LARGEST_SIDE // max(small.size)))
        return small.resize((small.width * scale, small.height * scale), Image.Resampling.BICUBIC)

    def jpeg(self, latents: torch.Tensor) -> bytes:
        """The preview as a JPEG file."""
        buffer = io.BytesIO()
        self.image(latents).save(buffer, "JPEG", quality=_QUALITY)
        return buffer.getvalue()


def as_text(jpeg: bytes) -> str:
    """A JPEG base64-encoded for an event."""
    return base64.b64encode(jpeg).decode("ascii")


def _colour_fields(side: int, count: int = 8) -> torch.Tensor:
    """Smooth random colours `(count, 3, side, side)` in -1..1: a 3x3 grid of colours, enlarged."""
    grid = torch.rand((count, 3, 3, 3), generator=torch.Generator().manual_seed(0)) * 2 - 1
    return torch.nn.functional.interpolate(grid, size=(side, side), mode="bilinear", align_corners=True)
