"""Sparse self-attention over an image, on models trained without it: each tile of 8 x 8 tokens sees some of the others.

Tokens beside those of the image, such as the text's, see and are seen by all. It is applied after projection, norm and
rotary embedding, like the reductions of tokens.
"""

import math
from functools import lru_cache

from torch import Tensor

from mezzotint.attention.blocks import grids
from mezzotint.attention.blocks.table import BlockTable
from mezzotint.attention.blocks.tiles import Tiles, best_tiles, tile_table, tiles_of, window_tiles
from mezzotint.attention.image_tiles import attend_in_tiles
from mezzotint.attention.masks import NO_MASKS, Masks, visible_keys
from mezzotint.attention.reduction import Grid
from mezzotint.attention.session import Attend
from mezzotint.values.speed import SparseAttention, density_at, tile_counts


def attend_sparsely(
    attend: Attend,
    q: Tensor,
    k: Tensor,
    v: Tensor,
    masks: Masks,
    scale: float | None,
    *,
    grid: Grid,
    how: SparseAttention,
    shifted: bool = False,
) -> Tensor:
    """Attention over the blocks of a table; dense if the density leaves nothing out, or a bias could not be honoured.

    `pooled` adds the mean of each block left out (Sol-Attn), `topk` does not (cf. arXiv 2502.18137); both choose blocks
    by the products of mean queries and keys. `window` is the same in every call (block-aligned GNA, arXiv 2504.16922).
    `tiles` needs no table; only its larger tiles can be `shifted`.
    """
    density = density_at(how, grid.height * grid.width)
    if density >= 1.0 or masks.causal or masks.bias is not None:
        return attend(q, k, v, masks, scale)
    if how[0] == "tiles":
        counts = tile_counts(density, grid.height, grid.width)
        if counts == (1, 1):
            return attend(q, k, v, masks, scale)
        return attend_in_tiles(attend, q, k, v, masks, scale, grid=grid, counts=counts, shifted=shifted)
    tiles = _tiles(grid, k)
    count = math.ceil(density * tiles.count - 1e-9)
    if count == tiles.count:
        return attend(q, k, v, masks, scale)
    visible = visible_keys(masks, k.shape[2])
    shown = None if visible is None else visible[:, 0, 0]
    return attend(q, k, v, NO_MASKS, scale, _table(how, q, k, tiles, count, shown))


def _tiles(grid: Grid, k: Tensor) -> Tiles:
    after = k.shape[2] - grid.stop
    return tiles_of(
        grids.Grid(height=grid.height, width=grid.width, text_before=grid.start, text_after=after), k.device
    )


def _table(how: SparseAttention, q: Tensor, k: Tensor, tiles: Tiles, count: int, shown: Tensor | None) -> BlockTable:
    if how[0] != "window":
        return tile_table(tiles, best_tiles(q, k, tiles, count), shown, pooled=how[0] == "pooled")
    return _window(tiles, count) if shown is None else tile_table(tiles, window_tiles(tiles, count), shown)


@lru_cache(maxsize=16)
def _window(tiles: Tiles, count: int) -> BlockTable:
    """The table of a window, built once for a grid."""
    return tile_table(tiles, window_tiles(tiles, count))
