"""Block tables for problems of the attention kernels, by name, and as the C ABI takes them."""

import ctypes
from collections.abc import Callable

import torch
from guarded_memory import guarded

from mezzotint.attention.blocks.building import build_table
from mezzotint.attention.blocks.chosen import hashed_table, top_table
from mezzotint.attention.blocks.grids import Grid, shifted_table, window_table
from mezzotint.attention.blocks.patterns import (
    bigbird_table,
    dilated_table,
    full_table,
    global_local_table,
    local_table,
    longformer_table,
    neighbour_table,
    strided_table,
)
from mezzotint.attention.blocks.table import BlockTable

ARRAYS = ("row_ptr", "col", "tile", "bits", "row_order")


def random_table(
    nq: int, nk: int, *, batch: int = 1, heads: int = 1, block_q: int = 64, density: float = 0.6, whole: bool = False
) -> BlockTable:
    """Blocks at random, and tokens at random in most of them; the second row sees nothing."""
    generator = torch.Generator().manual_seed(nq * 1000 + nk)
    candidates = torch.rand(batch, heads, -(-nq // block_q), -(-nk // 64), generator=generator) < density
    candidates[:, :, 1::7] = False
    shown = torch.rand(nq, nk, generator=generator) < 0.5

    def rule(i: torch.Tensor, j: torch.Tensor) -> torch.Tensor:
        return shown[i, j] | (j // 64 % 3 == 2)

    return build_table(candidates, nq, nk, None if whole else rule, block_q=block_q)


GRID = Grid(height=20, width=14, text_before=30)
# Of queries and keys in the order of the table, for so many of both.
TABLES: dict[str, tuple[int, Callable[[], BlockTable]]] = {
    "full": (200, lambda: full_table(200, 200)),
    "local": (300, lambda: local_table(300, 40)),
    "dilated": (300, lambda: dilated_table(300, 10, 3)),
    "strided": (300, lambda: strided_table(300, 5)),
    "longformer": (300, lambda: longformer_table(300, 30, 3)),
    "global-local": (300, lambda: global_local_table(300, 30, 20)),
    "neighbours": (300, lambda: neighbour_table(300, 1)),
    "bigbird": (500, lambda: bigbird_table(500, 0, random_blocks=2)),
    "window": (448, lambda: window_table(GRID, 1)),
    "shifted window": (310, lambda: shifted_table(GRID, 8, 4)),
    "top": (300, lambda: top_table(_random(300), _random(300), 2)),
    "hashed": (300, lambda: hashed_table(_random(300), 8)),
}


def _random(tokens: int) -> torch.Tensor:
    return torch.randn(1, 2, tokens, 8, generator=torch.Generator().manual_seed(tokens))


def table_of(name: str, nq: int, nk: int, batch: int, heads: int, block_q: int) -> BlockTable:
    """Return the named table: of a pattern, or `random`, `whole` blocks at random, by heads, by batch and heads."""
    if name in TABLES:
        return TABLES[name][1]()
    word, _, by = name.partition(" ")
    if word == "all":
        return build_table(torch.ones(1, 1, -(-nq // block_q), -(-nk // 64), dtype=torch.bool), nq, nk, block_q=block_q)
    tables = {"": (1, 1), "heads": (1, heads), "batch": (batch, 1), "both": (batch, heads)}[by]
    density = 0.0 if word == "empty" else 0.6
    return random_table(
        nq, nk, batch=tables[0], heads=tables[1], block_q=block_q, whole=word == "whole", density=density
    )


class GivenTable:
    """A table in memory that must not be read beyond its arrays."""

    def __init__(self, table: BlockTable, kept: list[object]) -> None:
        self.table = table
        given = {name: getattr(table, name) for name in ARRAYS}
        self.arrays = {name: _guarded(array, kept) for name, array in given.items() if array is not None}

    def struct(self) -> ctypes.Structure:
        """Return the struct of the C ABI."""
        from mezzotint_kernels.abi import BlockTableArgs

        partial = bool(len(self.table.bits))
        pointers = {name: array.data_ptr() for name, array in self.arrays.items() if partial or name != "tile"}
        if not partial:
            pointers["bits"] = 0
        pointers["order"] = pointers.pop("row_order", 0)
        return BlockTableArgs(
            rows=self.table.rows,
            block_q=self.table.block_q,
            block_k=self.table.block_k,
            stride_batch=self.table.stride_batch,
            stride_head=self.table.stride_head,
            **pointers | {"col": pointers["col"] or pointers["row_ptr"]},
        )


def _guarded(array: torch.Tensor, kept: list[object]) -> torch.Tensor:
    if not array.numel():
        return array
    memory = guarded(array.numel() * array.itemsize, kept, alignment=8)
    return torch.frombuffer(memory, dtype=array.dtype).view(array.shape).copy_(array)
