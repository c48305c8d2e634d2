"""Tiled processing of images: overlapping square tiles, blended in the overlaps."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

_OVERLAP = 4  # neighbouring tiles share 1 / _OVERLAP of a tile's side
SMALLEST_TILE = 8  # latent pixels: less context is not enough for an autoencoder


@dataclass(frozen=True, slots=True)
class TileWindow:
    """The place of a tile, in units of the grid that it is on."""

    top: int
    left: int
    side: int

    def cut(self, x: Tensor, scale: int) -> Tensor:
        """The part of x `(b, c, h scale, w scale)` in it, a view; `scale`: pixels of x in a unit."""
        rows, columns = (slice(at * scale, (at + self.side) * scale) for at in (self.top, self.left))
        return x[..., rows, columns]


def in_tiles(
    make: Callable[[Tensor], Tensor], x: Tensor, tile: int, *, takes: int, gives: int, overlap: int | None = None
) -> Tensor:
    """Apply `make` to tiles of x `(b, c, h takes, w takes)`; returns `(b, d, h gives, w gives)`, float32.

    `tile` is the side of a tile in units of `takes` input and `gives` output pixels. Neighbours overlap by at least
    `overlap` of them, by default a quarter of a tile, and are blended there.
    """
    size = (x.shape[-2] // takes, x.shape[-1] // takes)
    return in_windows(lambda window: make(window.cut(x, takes)), size, tile, gives=gives, overlap=overlap)


def in_windows(
    make: Callable[[TileWindow], Tensor], size: tuple[int, int], tile: int, *, gives: int, overlap: int | None = None
) -> Tensor:
    """Blend what `make` returns for the tiles of a grid of `size` (h, w); as `in_tiles`."""
    overlap = tile // _OVERLAP if overlap is None else overlap
    rows, columns = (starts(side, tile, overlap) for side in size)
    windows = [TileWindow(top, left, tile) for top in rows for left in columns]
    if len(windows) == 1:
        return make(windows[0]).float()
    whole: Tensor | None = None
    for window in windows:
        part = make(window).float()
        weight = _weight(part, overlap * gives)
        if whole is None:
            whole = part.new_zeros((*part.shape[:2], size[0] * gives, size[1] * gives))
            total = part.new_zeros(whole.shape[-2:])
        window.cut(whole, gives).add_(part.mul_(weight))
        window.cut(total, gives).add_(weight)
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


def _weight(part: Tensor, overlap: int) -> Tensor:
    """Blend weights `(h, w)` that fall off towards all sides; where tiles do not overlap, they only have to be > 0."""
    sides = [_ramp(length, overlap, part.device) for length in part.shape[-2:]]
    return torch.outer(*sides)


def _ramp(length: int, overlap: int, device: torch.device) -> Tensor:
    steps = torch.arange(1, length + 1, device=device, dtype=torch.float32)
    return (torch.minimum(steps, steps.flip(0)) / (overlap + 1)).clamp(max=1)
