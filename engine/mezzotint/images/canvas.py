"""Crop and resize images, extend them beyond their edges, and fill parts from their surroundings."""

from typing import Any

import numpy as np
import numpy.typing as npt
from PIL import Image

Box = tuple[int, int, int, int]  # left, top, right, bottom
Numbers = npt.NDArray[np.floating[Any]]


def fit(image: Image.Image, width: int, height: int, resample: Image.Resampling) -> Image.Image:
    """Centre-crop and resize an image to the given size; unchanged if it has that size."""
    if image.size == (width, height):
        return image
    return image.resize((width, height), resample, box=middle(image.size, width, height))


def middle(size: tuple[int, int], width: int, height: int) -> tuple[float, float, float, float]:
    """The largest centred box of an image with the aspect ratio of width x height."""
    scale = max(width / size[0], height / size[1])
    left = max(0.0, (size[0] - width / scale) / 2)  # rounding may fall just outside
    top = max(0.0, (size[1] - height / scale) / 2)
    return left, top, size[0] - left, size[1] - top


def stretched(image: Image.Image, box: Box) -> Image.Image:
    """Crop a box of an image; beyond the image, its edge pixels are repeated."""
    left, top, right, bottom = box
    if left >= 0 and top >= 0 and right <= image.width and bottom <= image.height:
        return image.crop(box)
    rows = np.arange(top, bottom).clip(0, image.height - 1)
    columns = np.arange(left, right).clip(0, image.width - 1)
    return Image.fromarray(np.asarray(image)[rows][:, columns])


def filled(image: Image.Image, where: Image.Image) -> Image.Image:
    """Fill the image "RGB" with blurred colours of the surroundings where the mask `where` is not black.

    Known pixels are averaged over ever larger squares until all is covered; then each level is refined by the next
    finer one, so that the fill is smooth and continues the known pixels.
    """
    hidden = np.asarray(where) > 0
    if not hidden.any():
        return image
    colours = np.asarray(image).astype(np.float32)
    if hidden.all():
        return Image.new("RGB", image.size, tuple(int(value) for value in np.rint(colours.mean(axis=(0, 1)))))
    known = (~hidden).astype(np.float32)
    whole = _covered(colours, known)
    mixed = np.where(hidden[..., None], whole, colours)
    return Image.fromarray(np.rint(mixed).clip(0, 255).astype(np.uint8))


def _covered(colours: Numbers, weight: Numbers) -> Numbers:
    """Colours `(h, w, 3)` extended everywhere from those with a weight `(h, w)`."""
    if weight.min() >= 1:
        return colours
    height, width = weight.shape
    halves, light = _halved(colours * weight[..., None]), _halved(weight[..., None])
    below = _covered(halves / np.maximum(light, 1e-6), np.minimum(1, light[..., 0] * 2))
    above = _doubled(below)[:height, :width]
    return weight[..., None] * colours + (1 - weight[..., None]) * above


def _halved(values: Numbers) -> Numbers:
    """Means over 2x2 squares; an odd last row or column is duplicated."""
    values = np.pad(values, [(0, values.shape[0] % 2), (0, values.shape[1] % 2), (0, 0)], mode="edge")
    return (values[::2, ::2] + values[1::2, ::2] + values[::2, 1::2] + values[1::2, 1::2]) / 4


def _doubled(values: Numbers) -> Numbers:
    size = (values.shape[1] * 2, values.shape[0] * 2)
    bands = [Image.fromarray(np.ascontiguousarray(values[..., band])) for band in range(values.shape[2])]
    return np.stack([np.asarray(band.resize(size, Image.Resampling.BICUBIC)) for band in bands], axis=-1)
