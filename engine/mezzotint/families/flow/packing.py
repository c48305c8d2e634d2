"""Packing of latents into tokens, each a 2x2 patch of latents."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch

SIDE = 2  # latents


def packed(latents: "torch.Tensor") -> "torch.Tensor":
    """Pack latents `(n, c, h, w)` into tokens `(n, h/2 w/2, 4c)`, row by row; a channel's four values are adjacent."""
    return latents.unfold(2, SIDE, SIDE).unfold(3, SIDE, SIDE).permute(0, 2, 3, 1, 4, 5).flatten(3).flatten(1, 2)


def unpacked(tokens: "torch.Tensor", height: int) -> "torch.Tensor":
    """Unpack tokens `(n, height/2 w/2, 4c)` into latents `(n, c, height, w)`."""
    rows, count, width = tokens.shape
    across = count * SIDE // height
    squares = tokens.reshape(rows, height // SIDE, across, width // SIDE**2, SIDE, SIDE)
    return squares.permute(0, 3, 1, 4, 2, 5).reshape(rows, width // SIDE**2, height, across * SIDE)
