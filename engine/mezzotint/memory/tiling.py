"""Tiled processing of images: overlapping square tiles, blended in the overlaps."""

from collections.abc import Callable

import torch
from torch import Tensor

_OVERLAP = 4  # neighbouring tiles share 1 / _OVERLAP of a tile's side
SMALLEST_TILE = 8  # latent pixels: less context is not enough for an autoencoder


def in_tiles(
    make: Callable[[Tensor], Tensor], x: Tensor, tile: int, *, takes: int, gives: int, overlap: int | None = None
) -> Tensor:
    """Apply `make` to tiles of x `(b, c, h takes, w takes)`; returns `(b, d, h gives, w gives)`, float32.

    `tile` is the side of a tile in units of `takes` input and `gives` output pixels. Neighbours overlap by at least
    `overlap` of them, by default a quarter of a tile, and are blended there.
    """
    overlap = tile // _OVERLAP if overlap is None else overlap
    height, width = x.shape[-2] // takes, x.shape[-1] // takes
    rows, columns = starts(height, tile, overlap), starts(width, tile, overlap)
    if rows == columns == [0]:
        return make(x).float()
    whole: Tensor | None = None
    total = torch.zeros((height * gives, width * gives), device=x.device)
    for top in rows:
        for left in columns:
            part = make(_cut(x, top, left, tile, takes)).float()
            weight = _weight(part, overlap * gives)
            if whole is None:
                whole = part.new_zeros((*part.shape[:2], height * gives, width * gives))
            _cut(whole, top, left, tile, gives).add_(part.mul_(weight))
            _cut(total, top, left, tile, gives).add_(weight)
            del part
    assert whole is not None  # noqa: S101  there is always a first tile
    return whole.div_(total)


def starts(length: int, tile: int, overlap: int) -> list[int]:
    """Evenly spaced starts of tiles, the last of which ends with the image."""
    if length <= tile:
        return [0]
    step = tile - overlap
    count = -(-(length - tile) // step) + 1
    return [round(index * (length - tile) / (count - 1)) for index in range(count)]


def _cut(x: Tensor, top: int, left: int, tile: int, scale: int) -> Tensor:
    return x[..., top * scale : (top + tile) * scale, left * scale : (left + tile) * scale]


def _weight(part: Tensor, overlap: int) -> Tensor:
    """Blend weights `(h, w)` that fall off towards all sides; where tiles do not overlap, they only have to be > 0."""
    sides = [_ramp(length, overlap, part.device) for length in part.shape[-2:]]
    return torch.outer(*sides)


def _ramp(length: int, overlap: int, device: torch.device) -> Tensor:
    steps = torch.arange(1, length + 1, device=device, dtype=torch.float32)
    return (torch.minimum(steps, steps.flip(0)) / (overlap + 1)).clamp(max=1)
