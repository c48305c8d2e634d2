"""Tables of two-dimensional patterns: windows of an image's tokens, between text that sees and is seen by all."""

from collections.abc import Callable
from dataclasses import dataclass
from math import isqrt

import torch
from torch import Tensor

from mezzotint.attention.blocks.building import BLOCK, across, build_table, near
from mezzotint.attention.blocks.table import BlockTable


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """An image's tokens, row by row, and those of a text before or after them."""

    height: int
    width: int
    text_before: int = 0
    text_after: int = 0

    @property
    def tokens(self) -> int:
        """All tokens."""
        return self.text_before + self.height * self.width + self.text_after

    def text(self, token: Tensor) -> Tensor:
        """Whether tokens are of the text."""
        return (token < self.text_before) | (token >= self.tokens - self.text_after)

    def place(self, token: Tensor) -> tuple[Tensor, Tensor]:
        """Row and column of the image's tokens."""
        return (token - self.text_before) // self.width, (token - self.text_before) % self.width


def window_table(grid: Grid, window: int, *, block: int = BLOCK) -> BlockTable:
    """Square tiles of `block` tokens see `window` by `window` tiles around them (block-aligned GNA, arXiv 2504.16922).

    At the edges the window is moved into the image. Each tile is a block, and text has blocks of its own.
    """
    side = isqrt(block)
    tiles_y, tiles_x = -(-grid.height // side), -(-grid.width // side)
    tile_y, tile_x = (
        each.flatten() for each in torch.meshgrid(torch.arange(tiles_y), torch.arange(tiles_x), indexing="ij")
    )
    seen = within(tile_y, window, tiles_y) & within(tile_x, window, tiles_x)
    order = torch.cat([tiled_tokens(grid, side), padded_text(grid, block)])
    candidates = torch.ones(2 * (len(order) // block,), dtype=torch.bool)
    candidates[: len(seen), : len(seen)] = seen
    size = grid.tokens
    return build_table(candidates[None, None], size, size, block_q=block, block_k=block, q_order=order, k_order=order)


def within(place: Tensor, window: int, count: int) -> Tensor:
    """Whether a tile's window along one axis contains another, `(tiles, tiles)` of bool."""
    first = (place - window // 2).clamp(max=count - window).clamp(min=0)[:, None]
    return (place >= first) & (place < first + window)


def tiled_tokens(grid: Grid, side: int) -> Tensor:
    """The image's tokens tile by tile, -1 where a tile lies beyond the edge."""
    tokens = grid.text_before + torch.arange(grid.height * grid.width).view(grid.height, grid.width)
    padded = torch.nn.functional.pad(tokens, (0, -grid.width % side, 0, -grid.height % side), value=-1)
    height, width = padded.shape
    return padded.view(height // side, side, width // side, side).transpose(1, 2).flatten()


def padded_text(grid: Grid, block: int) -> Tensor:
    """The text's tokens in blocks of their own, -1 after the last."""
    after = torch.arange(grid.tokens - grid.text_after, grid.tokens)
    text = torch.cat([torch.arange(grid.text_before), after])
    return torch.nn.functional.pad(text, (0, -len(text) % block), value=-1)


def shifted_table(grid: Grid, window: int, shift: int, *, block: int = BLOCK) -> BlockTable:
    """Tokens see those of their own window, of `window` by `window`, whose edges are shifted (Swin, arXiv 2103.14030).

    What Swin's cyclic shift brings together across the image's edges stays hidden. Windows lie one after the other.
    """
    across_image = grid.width // window + 2
    number = _numbers(grid, window, shift, across_image)
    tokens = torch.arange(grid.tokens)
    number_of = number(tokens).masked_fill(grid.text(tokens), -1)  # text first
    order = number_of.sort(stable=True).indices
    candidates = near(number_of[order], 0, block) | across(grid.text(order), block)

    def rule(i: Tensor, j: Tensor) -> Tensor:
        return (number(i) == number(j)) | grid.text(i) | grid.text(j)

    size = grid.tokens
    return build_table(candidates, size, size, rule, block_q=block, block_k=block, q_order=order, k_order=order)


def _numbers(grid: Grid, window: int, shift: int, across_image: int) -> Callable[[Tensor], Tensor]:
    def number(token: Tensor) -> Tensor:
        y, x = grid.place(token)
        return (y - shift + window) // window * across_image + (x - shift + window) // window

    return number
