"""Reference images: clean latents, whose tokens are appended to those of the noisy latents.

They are tensors of the conditioning like its text, repeated for each of its rows, and are joined, split and moved like
it; only images with references of the same sizes can be denoised together.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import count, takewhile
from typing import TYPE_CHECKING

from mezzotint.families.family import Conditioning

if TYPE_CHECKING:
    import torch
    from PIL import Image

Tokens = Callable[["torch.Tensor"], "torch.Tensor"]  # latents `(n, c, h, w)` -> `(n, t, d)`
Places = Callable[["torch.Tensor", int], "torch.Tensor"]  # latents, image number (0: noise) -> `(t, a)`


def with_references(conditioning: Conditioning, latents: "Sequence[torch.Tensor]") -> Conditioning:
    """Add clean latents `(1, c, h, w)` to a conditioning in this order, for both guidance halves."""
    text = conditioning.tensors["text"]
    shown = {_name(i): each.to(text).expand(len(text), -1, -1, -1) for i, each in enumerate(latents)}
    return replace(conditioning, tensors={**conditioning.tensors, **shown})


def references_of(conditioning: Conditioning) -> "list[torch.Tensor]":
    """The reference latents `(n, c, h, w)` of a conditioning, in order."""
    tensors = conditioning.tensors
    return [tensors[name] for name in takewhile(tensors.__contains__, map(_name, count()))]


def with_tokens(
    rows: "torch.Tensor", conditioning: Conditioning, tokens: Tokens, places: Places
) -> "tuple[torch.Tensor, torch.Tensor]":
    """Tokens of the noisy latents `(n, c, h, w)` and of the references, and the position ids of both."""
    import torch

    images = [rows, *references_of(conditioning)]
    return torch.cat([tokens(each) for each in images], dim=1), torch.cat(
        [places(each, number) for number, each in enumerate(images)]
    )


def resized(image: "Image.Image", size: tuple[int, int]) -> "Image.Image":
    """Resize an image with Lanczos."""
    from PIL import Image

    return image.resize(size, Image.Resampling.LANCZOS)


def within(image: "Image.Image", area: int, multiple: int) -> "Image.Image":
    """Shrink an image to at most `area` pixels, then center-crop its sides to multiples of `multiple`."""
    size = scaled(*image.size, area)
    if image.size != size:
        image = resized(image, size)
    width, height = cropped(*size, multiple)
    left, top = (image.width - width) // 2, (image.height - height) // 2
    return image.crop((left, top, left + width, top + height))


def scaled(width: int, height: int, area: int) -> tuple[int, int]:
    """Scale a size down to at most `area` pixels, keeping its aspect ratio."""
    if width * height <= area:
        return width, height
    scale = math.sqrt(area / (width * height))
    return int(width * scale), int(height * scale)


def cropped(width: int, height: int, multiple: int) -> tuple[int, int]:
    """Round both sides down to multiples of `multiple`, at least one."""
    return max(width // multiple, 1) * multiple, max(height // multiple, 1) * multiple


def closest(width: int, height: int, sizes: Sequence[tuple[int, int]]) -> tuple[int, int]:
    """The size of `sizes` with the closest aspect ratio."""
    _, *size = min((abs(width / height - each[0] / each[1]), *each) for each in sizes)
    return size[0], size[1]


def _name(number: int) -> str:
    return f"reference {number}"
