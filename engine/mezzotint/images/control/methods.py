"""Control images made from photos and drawings without a network."""

from collections.abc import Callable, Mapping

import numpy as np
from PIL import Image, ImageFilter

from mezzotint.images.control.canny import canny
from mezzotint.images.control.contours import contours
from mezzotint.images.control.scribble import scribbled, strokes_of
from mezzotint.protocol import Preprocess

_TILE = 4  # a tile ControlNet is given an image of a quarter of the size, enlarged again
_SIDE = 512  # pixels of the shorter side at which contours are looked for
_LONGEST = 2048


def _edges(image: Image.Image) -> Image.Image:
    return Image.fromarray(canny(np.asarray(image.convert("L")))).convert("RGB")


def _gray(image: Image.Image) -> Image.Image:
    return image.convert("L").convert("RGB")


def _tile(image: Image.Image) -> Image.Image:
    """Less detail of the same colours, to which a network adds detail."""
    width, height = (max(1, side // _TILE) for side in image.size)
    small = image.filter(ImageFilter.GaussianBlur(_TILE / 2)).resize((width, height), Image.Resampling.BOX)
    return small.resize(image.size, Image.Resampling.LANCZOS)


def _lines(image: Image.Image) -> Image.Image:
    strength = contours(np.asarray(_handy(image)))
    return _shown((strength * 255).round().astype(np.uint8), image.size)


def _scribble(image: Image.Image) -> Image.Image:
    drawn = strokes_of(np.asarray(image))
    if drawn is not None:
        return _shown(drawn, image.size)
    lines = _shown(np.where(scribbled(contours(np.asarray(_handy(image)))), 255, 0).astype(np.uint8), image.size)
    return lines.point(lambda value: 255 if value > 127 else 0)


def _handy(image: Image.Image) -> Image.Image:
    """The image at a size for which contours are as wide as they should be."""
    scale = min(1.0, _SIDE / min(image.size), _LONGEST / max(image.size))
    width, height = (max(2, round(side * scale)) for side in image.size)
    return image.resize((width, height), Image.Resampling.LANCZOS)


def _shown(grey: np.ndarray, size: tuple[int, int]) -> Image.Image:
    made = Image.fromarray(grey)
    return (made if made.size == size else made.resize(size, Image.Resampling.BICUBIC)).convert("RGB")


METHODS: Mapping[Preprocess, Callable[[Image.Image], Image.Image]] = {
    "none": lambda image: image,
    "canny": _edges,
    "lines": _lines,
    "scribble": _scribble,
    "gray": _gray,
    "tile": _tile,
}  # each makes an image "RGB" of the same size from one
