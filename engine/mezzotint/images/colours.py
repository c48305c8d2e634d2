"""Colour management: images of any mode as sRGB in 8 bits, for display and for models alike."""

import io
import math
from contextlib import suppress

from PIL import Image, ImageCms

from mezzotint.images.decoder_errors import DECODER_ERRORS
from mezzotint.images.png import MAX_PROFILE

_SCALED_WELL = ("RGB", "RGBA", "L", "LA", "CMYK")  # other modes are converted to one of these first
_SPACES = {"RGB": "RGB", "L": "GRAY", "CMYK": "CMYK"}


def interpolable(image: Image.Image) -> Image.Image:
    """Convert to a mode whose values can be interpolated when scaling."""
    if image.mode in _SCALED_WELL and not (image.mode in ("RGB", "L") and image.has_transparency_data):
        return image
    if is_deep(image):
        return eight_bits(image)
    return image.convert("RGBA" if image.has_transparency_data else "RGB")


def in_srgb(image: Image.Image, profile: object) -> tuple[Image.Image, str | None]:
    """Convert an interpolable image to sRGB as RGB or RGBA; also return why its profile was not applied, if so.

    The values are then taken as sRGB.
    """
    alpha = image.getchannel("A") if image.mode in ("RGBA", "LA") else None
    colours = image.convert(image.mode[:-1]) if alpha is not None else image
    converted, why = _by_profile(colours, profile)
    if alpha is not None:
        converted.putalpha(alpha)
    return converted, why


def _by_profile(image: Image.Image, profile: object) -> tuple[Image.Image, str | None]:
    if not isinstance(profile, bytes) or not profile:
        return image.convert("RGB"), None
    if len(profile) > MAX_PROFILE:
        return image.convert("RGB"), f"of more than {MAX_PROFILE >> 20} MB"
    with suppress(ImageCms.PyCMSError, *DECODER_ERRORS):
        opened = ImageCms.getOpenProfile(io.BytesIO(profile))
        space = opened.profile.xcolor_space.strip()
        if space != _SPACES[image.mode]:
            return image.convert("RGB"), f"for {space}, not {_SPACES[image.mode]}"
        intent = ImageCms.Intent.RELATIVE_COLORIMETRIC
        flags = ImageCms.Flags.BLACKPOINTCOMPENSATION
        converted = ImageCms.profileToProfile(image, opened, _srgb(), intent, outputMode="RGB", flags=flags)
        if converted is not None:  # pragma: no branch  as only an edit in place returns none
            return converted, None
    return image.convert("RGB"), "damaged"


def _srgb() -> ImageCms.ImageCmsProfile:
    return ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB"))


def is_deep(image: Image.Image) -> bool:
    """Whether an image is grey with more than 8 bits."""
    return image.mode in ("I", "F") or image.mode.startswith("I;")


def eight_bits(image: Image.Image) -> Image.Image:
    """Scale greys deeper than 8 bits: 16-bit integers by full range, floats by 0..1, anything else by its maximum."""
    deep = image if image.mode == "F" else image.convert("I").convert("F")
    low, high = (float(value) for value in deep.getextrema())  # type: ignore[arg-type]
    if not (math.isfinite(low) and math.isfinite(high)):
        raise ValueError("its pixels contain NaN or infinity")
    whole = 1.0 if image.mode == "F" else 65535.0
    scale = 255.0 / (whole if high <= whole else high)
    return deep.point(lambda value: value * scale + 0.0).convert("L")
