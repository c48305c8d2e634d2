"""Images from anywhere as people see them: upright, in sRGB, 8 bits, as large as asked."""

import io
import threading
from contextlib import nullcontext, suppress
from pathlib import Path

from PIL import Image, ImageCms

from mezzotint.errors import Cancelled
from mezzotint.images.reading import DECODER_ERRORS, open_image, refused_if_broken, to_rgb, upright, upright_size
from mezzotint.protocol import IsCancelled

_LARGE = 20_000_000  # pixels; of larger ones only one is decoded at a time, for it may take a gigabyte
_one_large = threading.Lock()
_LARGEST_PROFILE = 4 << 20  # bytes; those of printers have one or two
_SCALED_WELL = ("RGB", "RGBA", "L", "LA", "CMYK")  # the others are made one of these first
_SPACES = {"RGB": "RGB", "L": "GRAY", "CMYK": "CMYK"}


def decode_image(
    path: Path, max_side: int | None, cancelled: IsCancelled = lambda: False
) -> tuple[Image.Image, tuple[int, int]]:
    """The first frame as RGB or, where parts are transparent, RGBA; and the image's own upright size.

    A profile that is broken, or for other colours than the image has, is skipped: its numbers are then sRGB.
    """
    with open_image(path) as image, refused_if_broken(path):
        size = upright_size(image)
        if max_side is not None:
            image.draft(None, (max_side, max_side))  # a JPEG is decoded at half, a quarter or an eighth
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
    """RGB, for formats without transparency."""
    return to_rgb(image)


def _direct(image: Image.Image) -> Image.Image:
    """A mode in which numbers are colours and can be scaled."""
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


# ---- colours


def in_srgb(image: Image.Image, profile: object) -> Image.Image:
    """RGB, L, CMYK, with or without transparency, as RGB or RGBA in sRGB."""
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
