"""Control images made from photos and drawings: edges, grey and tiles."""

from collections.abc import Callable, Mapping

import numpy as np
from PIL import Image, ImageFilter

from mezzotint.images.edges import canny
from mezzotint.protocol import Preprocess

_TILE = 4  # a tile ControlNet is given an image of a quarter of the size, enlarged again


def preprocessed(image: Image.Image, how: Preprocess) -> Image.Image:
    """The control image "RGB" of an image "RGB", of the same size."""
    return _METHODS[how](image)


def _edges(image: Image.Image) -> Image.Image:
    return Image.fromarray(canny(np.asarray(image.convert("L")))).convert("RGB")


def _gray(image: Image.Image) -> Image.Image:
    return image.convert("L").convert("RGB")


def _tile(image: Image.Image) -> Image.Image:
    """Less detail of the same colours, to which a network adds detail."""
    width, height = (max(1, side // _TILE) for side in image.size)
    small = image.filter(ImageFilter.GaussianBlur(_TILE / 2)).resize((width, height), Image.Resampling.BOX)
    return small.resize(image.size, Image.Resampling.LANCZOS)


_METHODS: Mapping[Preprocess, Callable[[Image.Image], Image.Image]] = {
    "none": lambda image: image,
    "canny": _edges,
    "gray": _gray,
    "tile": _tile,
}
