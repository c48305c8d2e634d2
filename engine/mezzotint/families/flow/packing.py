"""Packing of latents into tokens: each is a patch of two by two latents."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch

SIDE = 2  # latents


def packed(latents: "torch.Tensor") -> "torch.Tensor":
    """Tokens `(n, h/2 w/2, 4c)` of latents `(n, c, h, w)`, row by row; the four values of a channel are adjacent."""
    return latents.unfold(2, SIDE, SIDE).unfold(3, SIDE, SIDE).permute(0, 2, 3, 1, 4, 5).flatten(3).flatten(1, 2)


def unpacked(tokens: "torch.Tensor", height: int) -> "torch.Tensor":
    """Latents `(n, c, height, w)` of tokens `(n, height/2 w/2, 4c)`."""
    rows, count, width = tokens.shape
    across = count * SIDE // height
    squares = tokens.reshape(rows, height // SIDE, across, width // SIDE**2, SIDE, SIDE)
    return squares.permute(0, 3, 1, 4, 2, 5).reshape(rows, width // SIDE**2, height, across * SIDE)
