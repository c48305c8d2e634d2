"""Tables of an image's tiles of 8 x 8 tokens, each of which sees as many others; text sees and is seen by all."""

import math
from dataclasses import dataclass
from functools import lru_cache

import torch
from torch import Tensor

from mezzotint.attention.blocks.building import BLOCK
from mezzotint.attention.blocks.grids import Grid, padded_text, tiled_tokens, within
from mezzotint.attention.blocks.table import PARTIAL, BlockTable

_SIDE = math.isqrt(BLOCK)


@dataclass(frozen=True, slots=True, eq=False)
class Tiles:
    """Blocks of a grid's tokens: those of the text first, since their rows are the longest, then the image's tiles."""

    grid: Grid
    order: Tensor  # (positions,): the token at each, -1 where there is none
    text: int  # blocks of text

    @property
    def down(self) -> int:
        """Tiles along the image's height."""
        return -(-self.grid.height // _SIDE)

    @property
    def across(self) -> int:
        """Tiles along the image's width."""
        return -(-self.grid.width // _SIDE)

    @property
    def is_whole(self) -> bool:
        """Whether every block is full of tokens."""
        return len(self.order) == self.grid.tokens

    @property
    def count(self) -> int:
        """Tiles of the image."""
        return self.down * self.across


@lru_cache(maxsize=16)
def tiles_of(grid: Grid, device: torch.device) -> Tiles:
    """The tiles of a grid."""
    text = padded_text(grid, BLOCK)
    return Tiles(grid, torch.cat([text, tiled_tokens(grid, _SIDE)]).to(device), len(text) // BLOCK)


@torch.no_grad()
def best_tiles(q: Tensor, k: Tensor, tiles: Tiles, count: int) -> Tensor:
    """The `count` tiles with the largest products of mean queries and keys, ascending, `(b, h, tiles, count)`.

    q `(b, h, n, d)`, k `(b, h / g, n, d)`. A tile's own is always among them.
    """
    keys = tile_means(k, tiles).repeat_interleave(q.shape[1] // k.shape[1], dim=1)
    scores = tile_means(q, tiles) @ keys.mT
    scores.diagonal(dim1=2, dim2=3).fill_(math.inf)
    return scores.topk(count, dim=-1, sorted=False).indices.sort(dim=-1).values


def tile_means(x: Tensor, tiles: Tiles) -> Tensor:
    """Means of the image's tokens of `(b, h, n, d)` over its tiles, `(b, h, tiles, d)`, in at least float32."""
    grid, exact = tiles.grid, torch.promote_types(x.dtype, torch.float32)
    batch, heads, _, dim = x.shape
    image = x[:, :, grid.text_before : grid.tokens - grid.text_after]
    image = image.reshape(batch, heads, grid.height, grid.width, dim)
    image = torch.nn.functional.pad(image, (0, 0, 0, -grid.width % _SIDE, 0, -grid.height % _SIDE))
    tiled = image.view(batch, heads, tiles.down, _SIDE, tiles.across, _SIDE, dim)
    down, across = (_sizes(side, x.device) for side in (grid.height, grid.width))
    return (tiled.sum((3, 5), dtype=exact) / (down[:, None] * across)[..., None]).flatten(2, 3)


def _sizes(side: int, device: torch.device) -> Tensor:
    """Tokens of each tile along a side."""
    return (side - torch.arange(0, side, _SIDE, device=device)).clamp(max=_SIDE)


def window_tiles(tiles: Tiles, count: int) -> Tensor:
    """The tiles of a window of about `count` around each, moved into the image, ascending, `(1, 1, tiles, count)`."""
    sides = zip(window_sides(tiles, count), (tiles.down, tiles.across), strict=True)
    seen = [within(torch.arange(length), window, length) for window, length in sides]
    both = (seen[0][:, None, :, None] & seen[1][None, :, None, :]).reshape(tiles.count, tiles.count)
    return both.nonzero()[:, 1].view(1, 1, tiles.count, -1).to(tiles.order.device)


def window_sides(tiles: Tiles, count: int) -> tuple[int, int]:
    """Tiles down and across of a window of about `count`, as square as fits into the image."""
    down = min(max(1, round(math.sqrt(count))), tiles.down)
    across = min(max(1, round(count / down)), tiles.across)
    return min(max(1, round(count / across)), tiles.down), across


def tile_table(tiles: Tiles, seen: Tensor, shown: Tensor | None = None, *, pooled: bool = False) -> BlockTable:
    """The table in which each tile sees those of `seen` `(b or 1, h or 1, tiles, count)`, ascending, and all text.

    `shown` `(b or 1, n)`: false hides a key. All sizes are known in advance, so nothing waits for the device.
    """
    device, text, columns = tiles.order.device, tiles.text, tiles.text + tiles.count
    if shown is not None and len(shown) > 1:
        seen = seen.expand(len(shown), -1, -1, -1)
    batch, heads = seen.shape[:2]
    every = torch.arange(columns, device=device)
    of_text = every.expand(batch, heads, text, -1).flatten(2)
    of_tiles = torch.cat([every[:text].expand(batch, heads, tiles.count, -1), seen + text], dim=-1).flatten(2)
    col = torch.cat([of_text, of_tiles], dim=2).flatten(1)
    words = _words(tiles, shown)
    bits = words.flatten()[:, None].repeat(1, BLOCK)
    number = col + torch.arange(len(words), device=device)[:, None] * columns
    partial = (words != -1).flatten()[number]
    return BlockTable(
        q_tokens=tiles.grid.tokens,
        k_tokens=tiles.grid.tokens,
        block_q=BLOCK,
        block_k=BLOCK,
        batch=batch,
        heads=heads,
        row_ptr=_row_ptr(tiles, seen.shape[3], batch * heads),
        col=(col + PARTIAL * partial).flatten().int(),
        tile=(number * partial).flatten().int(),
        bits=bits[:0] if tiles.is_whole and shown is None else bits,
        q_order=tiles.order[None, None],
        k_order=tiles.order[None, None],
        lengths=((text, columns), (tiles.count, text + seen.shape[3])),
        pooled=pooled,
    )


def _words(tiles: Tiles, shown: Tensor | None) -> Tensor:
    """A word for each block of keys `(b or 1, blocks)`: bit j is set if key j exists and is shown."""
    exists = (tiles.order >= 0)[None]
    if shown is not None:
        exists = exists & shown[:, tiles.order.clamp(min=0)]
    bit = torch.ones((), dtype=torch.int64, device=exists.device) << torch.arange(BLOCK, device=exists.device)
    return (exists.view(len(exists), -1, BLOCK) * bit).sum(-1)


@lru_cache(maxsize=16)
def _row_ptr(tiles: Tiles, count: int, tables: int) -> Tensor:
    text = tiles.text
    lengths = torch.tensor([0, *([text + tiles.count] * text + [text + count] * tiles.count) * tables])
    return lengths.cumsum(0).int().to(tiles.order.device)
