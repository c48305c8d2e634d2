"""Fixed patterns of the sparse kinds, which differ by layer so that all tokens are connected after a few.

Blocks are small: networks have as few as 64 tokens, of which something has to be left out.
"""

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import TypeAlias

import torch

from mezzotint.attention.blocks.grids import Grid as ImageGrid
from mezzotint.attention.blocks.grids import shifted_table
from mezzotint.attention.blocks.patterns import (
    bigbird_table,
    dilated_table,
    local_table,
    longformer_table,
    strided_table,
)
from mezzotint.attention.blocks.table import BlockTable
from mezzotint.families.architectures.kind_processor import Grid
from mezzotint.families.architectures.table import AttentionKind

Pattern: TypeAlias = Callable[[Grid, int], BlockTable]  # from the grid and the number of the layer

BLOCK = 16  # queries and keys, where tokens are in groups of that size
SMALL = 8  # where they are in bands

WINDOW = 4  # tokens on each side of a window
RADIUS = 8  # of bands along the row-by-row order
STRIDE = 4
GLOBAL = 4  # tokens
DILATED_RADIUS, DILATIONS = 4, 4


def local(grid: Grid, number: int) -> BlockTable:
    """Windows of 4 by 4 tokens, shifted by half in each second layer (Swin, arXiv 2103.14030)."""
    return shifted_table(ImageGrid(height=grid[0], width=grid[1]), WINDOW, WINDOW // 2 * (number % 2), block=BLOCK)


def dilated(grid: Grid, number: int) -> BlockTable:
    """Bands of 9 tokens that are 1, 2, 4 and 8 apart in successive layers (arXiv 2004.05150)."""
    return dilated_table(grid[0] * grid[1], DILATED_RADIUS, 2 ** (number % DILATIONS), block=SMALL)


def strided(grid: Grid, number: int) -> BlockTable:
    """A band, and in each second layer every fourth token (Sparse Transformer, arXiv 1904.10509)."""
    tokens = grid[0] * grid[1]
    return strided_table(tokens, STRIDE, block=BLOCK) if number % 2 else local_table(tokens, RADIUS, block=SMALL)


def longformer(grid: Grid, number: int) -> BlockTable:  # noqa: ARG001  the same in all layers
    """A band, and first tokens that see and are seen by all (arXiv 2004.05150)."""
    return longformer_table(grid[0] * grid[1], RADIUS, GLOBAL, block=SMALL)


def bigbird(grid: Grid, number: int) -> BlockTable:
    """Neighbouring blocks, a global one and a random one of each layer (arXiv 2007.14062)."""
    return bigbird_table(grid[0] * grid[1], 1, global_blocks=1, random_blocks=1, seed=number, block=SMALL)


PATTERNS: Mapping[AttentionKind, Pattern] = {
    "local": local,
    "dilated": dilated,
    "strided": strided,
    "longformer": longformer,
    "bigbird": bigbird,
}


@lru_cache(maxsize=256)
def table_of(pattern: Pattern, grid: Grid, number: int, device: torch.device) -> BlockTable:
    """The table on a device, built once."""
    with torch.device("cpu"):
        return pattern(grid, number).to(device)
