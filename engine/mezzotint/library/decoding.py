"""Decode images of any origin for display: upright, sRGB, 8 bits, scaled to the requested size."""

import io
import threading
from contextlib import nullcontext, suppress
from pathlib import Path

from PIL import Image, ImageCms

from mezzotint.errors import Cancelled
from mezzotint.images.reading import DECODER_ERRORS, open_image, refused_if_broken, to_rgb, upright, upright_size
from mezzotint.protocol import IsCancelled

_LARGE = 20_000_000  # pixels; larger images are decoded one at a time, since one may take a gigabyte
_one_large = threading.Lock()
_LARGEST_PROFILE = 4 << 20  # bytes; printer profiles have one or two megabytes
_SCALED_WELL = ("RGB", "RGBA", "L", "LA", "CMYK")  # other modes are converted to one of these first
_SPACES = {"RGB": "RGB", "L": "GRAY", "CMYK": "CMYK"}


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
    return in_srgb(_scaled(_direct(upright(image)), max_side), image.info.get("icc_profile"))


def over_white(image: Image.Image) -> Image.Image:
    """Composite over white and return RGB, for formats without transparency."""
    return to_rgb(image)


def _direct(image: Image.Image) -> Image.Image:
    """Convert to a mode whose values can be interpolated when scaling."""
    if image.mode in _SCALED_WELL and not (image.mode in ("RGB", "L") and image.has_transparency_data):
        return image
    if image.mode in ("I", "F") or image.mode.startswith("I;"):
        return to_rgb(image)
    return image.convert("RGBA" if image.has_transparency_data else "RGB")


def _scaled(image: Image.Image, max_side: int | None) -> Image.Image:
    if max_side is None or max(image.size) <= max_side:
        return image
    scale = max_side / max(image.size)
    size = (max(1, round(image.width * scale)), max(1, round(image.height * scale)))
    return image.resize(size, Image.Resampling.LANCZOS, reducing_gap=3.0)


# ---- colour management


def in_srgb(image: Image.Image, profile: object) -> Image.Image:
    """Convert RGB, L or CMYK, with or without alpha, to sRGB as RGB or RGBA."""
    alpha = image.getchannel("A") if image.mode in ("RGBA", "LA") else None
    colours = image.convert(image.mode[:-1]) if alpha is not None else image
    converted = _by_profile(colours, profile) or colours.convert("RGB")
    if alpha is not None:
        converted.putalpha(alpha)
    return converted


def _by_profile(image: Image.Image, profile: object) -> Image.Image | None:
    if not isinstance(profile, bytes) or not 0 < len(profile) <= _LARGEST_PROFILE:
        return None
    with suppress(ImageCms.PyCMSError, *DECODER_ERRORS):
        opened = ImageCms.getOpenProfile(io.BytesIO(profile))
        if opened.profile.xcolor_space.strip() != _SPACES[image.mode]:
            return None
        intent = ImageCms.Intent.RELATIVE_COLORIMETRIC
        flags = ImageCms.Flags.BLACKPOINTCOMPENSATION
        return ImageCms.profileToProfile(image, opened, _srgb(), intent, outputMode="RGB", flags=flags)
    return None


def _srgb() -> ImageCms.ImageCmsProfile:
    return ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB"))
