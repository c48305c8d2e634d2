"""Tensors as images."""

from PIL import Image
from torch import Tensor


def image_of(pixels: Tensor) -> Image.Image:
    """Return the image of pixels (3, h, w) from -1 to 1."""
    values = ((pixels.clamp(-1, 1) + 1) * 127.5).round().byte()
    return Image.fromarray(values.permute(1, 2, 0).contiguous().numpy())
