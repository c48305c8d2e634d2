"""Self-attention in tiles of an image, each of which sees only itself, and tokens that are not the image's (HyperTile).

Large images are then attended to at about the size that a model was trained for. The tiles of every second layer are
shifted by half a tile, so that tiles are not cut off from each other and edges do not show; HyperTile draws their
number at random instead (https://github.com/tfernd/HyperTile).
"""

from functools import lru_cache
from itertools import pairwise

import torch
from torch import Tensor

from mezzotint.attention.masks import NO_MASKS, Masks, visible_keys
from mezzotint.attention.reduction import Grid
from mezzotint.attention.session import Attend


def attend_in_tiles(
    attend: Attend,
    q: Tensor,
    k: Tensor,
    v: Tensor,
    masks: Masks,
    scale: float | None,
    *,
    grid: Grid,
    counts: tuple[int, int],
    shifted: bool,
) -> Tensor:
    """Dense attention inside each of rows x columns of tiles; other tokens see all.

    `shifted`: by half a tile, so that a side has one more, the first and last of which are half as long.
    """
    visible = visible_keys(masks, k.shape[2])
    made = q.new_empty((q.shape[0], q.shape[2], q.shape[1], v.shape[3])).transpose(1, 2)
    for queries, keys in _tiles_by_shape(grid, k.shape[2], counts, shifted, k.device):
        tiles = (_taken(q, queries), _taken(k, keys), _taken(v, keys))
        part = attend(*tiles, _masks_of(visible, keys, q.shape[0]), scale)
        made.transpose(1, 2)[:, queries] = part.transpose(1, 2).reshape(len(q), *queries.shape, *part.shape[1::2])
    for others in (slice(0, grid.start), slice(grid.stop, None)):
        if (queries := q[:, :, others]).shape[2]:
            made[:, :, others] = attend(queries, k, v, masks, scale)
    return made


@lru_cache(maxsize=32)
def _tiles_by_shape(
    grid: Grid, tokens: int, counts: tuple[int, int], shifted: bool, device: torch.device
) -> list[tuple[Tensor, Tensor]]:
    """Indices of queries `(tiles, n)` and of keys `(tiles, n')` in a sequence, of all tiles of each shape."""
    places = torch.arange(tokens)
    others = torch.cat([places[: grid.start], places[grid.stop :]])
    image = places[grid.start : grid.stop].view(grid.height, grid.width)
    shapes: dict[torch.Size, list[Tensor]] = {}
    for top, bottom in pairwise(_edges(grid.height, counts[0], shifted=shifted)):
        for left, right in pairwise(_edges(grid.width, counts[1], shifted=shifted)):
            tile = image[top:bottom, left:right]
            shapes.setdefault(tile.shape, []).append(tile.flatten())
    queries = [torch.stack(tiles) for tiles in shapes.values()]
    return [(each.to(device), torch.cat([each, others.expand(len(each), -1)], 1).to(device)) for each in queries]


def _edges(length: int, count: int, *, shifted: bool) -> list[int]:
    """Where tiles along a side begin and end."""
    edges = [length * index // count for index in range(count + 1)]
    if not shifted or count == 1:
        return edges
    return [0, *((before + after) // 2 for before, after in pairwise(edges)), length]


def _taken(x: Tensor, index: Tensor) -> Tensor:
    """Tokens `(b t, h, n, d)` of x `(b, h, tokens, d)` at an index `(t, n)`."""
    return x.transpose(1, 2)[:, index].flatten(0, 1).transpose(1, 2)


def _masks_of(visible: Tensor | None, keys: Tensor, batch: int) -> Masks:
    """Which of the keys `(t, n)` are visible, for each tile of each image."""
    if visible is None:
        return NO_MASKS
    return Masks(key_mask=visible[:, 0, 0].expand(batch, -1)[:, keys].flatten(0, 1))
