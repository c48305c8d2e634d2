"""Load an image and its mask, cropped to the image's bucket, as tensors."""

from typing import TYPE_CHECKING

import numpy as np
from PIL import Image, ImageOps

from mezzotint.errors import ImageRefused
from mezzotint.images.masks import check_shape, lightness
from mezzotint.images.reading import open_image, read_image, refused_if_broken, upright
from mezzotint.training.dataset.buckets import Crop
from mezzotint.training.dataset.records import TrainingImage
from mezzotint.trouble import shown

if TYPE_CHECKING:
    import torch


def load_pixels(image: TrainingImage, crop: Crop, *, flip: bool) -> "torch.Tensor":
    """Pixels `(3, h, w)` in float32, from -1 to 1. Raises ImageRefused if the file is damaged or was changed."""
    pixels = read_image(image.path)
    if pixels.size != (image.width, image.height):
        size = f"{pixels.width}x{pixels.height}, no longer {image.width}x{image.height}"
        raise ImageRefused(f"{shown(image.path)} was changed meanwhile (it is {size}): start again")
    cropped = pixels.resize((crop.width, crop.height), Image.Resampling.LANCZOS, box=crop.box)
    return _tensor(cropped, flip) * 2 - 1


def load_mask(image: TrainingImage, crop: Crop, *, flip: bool) -> "torch.Tensor":
    """The mask `(1, h, w)` in float32, from 0 to 1; 1 everywhere without one. Raises ImageRefused, UsageError."""
    import torch

    if image.mask is None:
        return torch.ones(1, crop.height, crop.width)
    with open_image(image.mask) as file, refused_if_broken(image.mask):
        file.load()
        light = lightness(upright(file))
    check_shape(image.mask, light.size, (image.width, image.height))
    box = _scaled(crop.box, light.width / image.width, light.height / image.height)
    return _tensor(light.resize((crop.width, crop.height), Image.Resampling.BOX, box=box), flip)


def _scaled(box: tuple[float, float, float, float], x: float, y: float) -> tuple[float, float, float, float]:
    return box[0] * x, box[1] * y, box[2] * x, box[3] * y


def _tensor(image: Image.Image, flip: bool) -> "torch.Tensor":
    """Pixels `(c, h, w)` from 0 to 1."""
    import torch

    array = np.asarray(ImageOps.mirror(image) if flip else image, dtype=np.float32)
    rows = array if array.ndim == 3 else array[..., None]
    return torch.from_numpy(np.ascontiguousarray(rows.transpose(2, 0, 1))) / 255
