"""Decode images of any origin for display: upright, sRGB, 8 bits, scaled to the requested size."""

import threading
from contextlib import nullcontext
from pathlib import Path

from PIL import Image

from mezzotint.errors import Cancelled
from mezzotint.images.colours import in_srgb, interpolable
from mezzotint.images.reading import open_image, refused_if_broken, to_rgb, upright, upright_size
from mezzotint.protocol import IsCancelled

_LARGE = 20_000_000  # pixels; larger images are decoded one at a time, since one may take a gigabyte
_one_large = threading.Lock()


def decode_image(
    path: Path, max_side: int | None, cancelled: IsCancelled = lambda: False
) -> tuple[Image.Image, tuple[int, int]]:
    """Return the first frame as RGB, or RGBA if it has transparency, and the original upright size.

    An ICC profile that is broken or for a different colour space is ignored: the values are then taken as sRGB.
    """
    with open_image(path) as image, refused_if_broken(path):
        size = upright_size(image)
        if max_side is not None:
            image.draft(None, (max_side, max_side))  # JPEG decodes directly at 1/2, 1/4 or 1/8
        with _one_large if image.width * image.height > _LARGE else nullcontext():
            return _decoded(image, max_side, cancelled), size


def _decoded(image: Image.Image, max_side: int | None, cancelled: IsCancelled) -> Image.Image:
    if cancelled():
        raise Cancelled("stopped")
    image.load()
    if cancelled():
        raise Cancelled("stopped")
    return in_srgb(_scaled(interpolable(upright(image)), max_side), image.info.get("icc_profile"))[0]


def over_white(image: Image.Image) -> Image.Image:
    """Composite over white and return RGB, for formats without transparency."""
    return to_rgb(image)


def _scaled(image: Image.Image, max_side: int | None) -> Image.Image:
    if max_side is None or max(image.size) <= max_side:
        return image
    scale = max_side / max(image.size)
    size = (max(1, round(image.width * scale)), max(1, round(image.height * scale)))
    return image.resize(size, Image.Resampling.LANCZOS, reducing_gap=3.0)
