"""Images in requests: base64 in, files for the engine out."""

import base64
import re
from pathlib import Path

from PIL import Image, ImageOps

from mezzotint.api_server.refusal import invalid
from mezzotint.images.masks import lightness
from mezzotint.images.reading import open_image, refused_if_broken, upright
from mezzotint.values.basic import shown

_DATA_URL = re.compile(r"data:[\w.+/-]{0,80}(?:;[\w.+=-]{1,80}){0,4};base64,", re.IGNORECASE)
_LONGEST_PREFIX = 500  # characters
_BREAKS = b"\t\r\n"  # many encoders break lines


def image_bytes(text: str, field: str) -> bytes:
    """The bytes of an image in base64, bare or as a data URL; raises Refusal for anything else, such as a link."""
    encoded = text.strip()
    prefix = _DATA_URL.match(encoded[:_LONGEST_PREFIX])
    encoded = encoded[prefix.end() :] if prefix else encoded
    try:
        data = base64.b64decode(encoded.encode("ascii").translate(None, _BREAKS), validate=True)
    except ValueError:
        raise invalid(field, f"{shown(text)} is not base64; links and paths are not opened") from None
    if not data:
        raise invalid(field, "the image is empty")
    return data


def write_mask(path: Path, data: bytes, *, invert: bool) -> None:
    """Write a mask as a file for the engine: white is inpainted.

    As in A1111, a mask with transparent parts is its opacity, whatever its colours. Raises ImageRefused.
    """
    path.write_bytes(data)
    with open_image(path) as image, refused_if_broken(path):
        image.load()
        mask = _opacity(upright(image)) or lightness(upright(image))
    (ImageOps.invert(mask) if invert else mask).save(path, "PNG")


def _opacity(image: Image.Image) -> Image.Image | None:
    """The opacity of an image that is transparent somewhere, but not everywhere."""
    if not image.has_transparency_data:
        return None
    alpha = image.convert("RGBA").getchannel("A")
    return None if alpha.getextrema() in ((255, 255), (0, 0)) else alpha
