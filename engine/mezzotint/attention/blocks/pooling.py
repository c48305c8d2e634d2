"""The blocks that rows of a table do not name, and means of keys and values."""

import torch
from torch import Tensor

from mezzotint.attention.blocks.table import PARTIAL, BlockTable, in_order


def left_out(table: BlockTable) -> Tensor:
    """The blocks that rows do not name, `(tables * rows, columns)` of bool."""
    left = torch.ones(table.batch * table.heads * table.rows, table.columns, dtype=torch.bool, device=table.col.device)
    left.view(-1).index_fill_(0, table.entry_rows() * table.columns + (table.col & ~PARTIAL), 0)
    return left


def pooled_keys(k: Tensor, v: Tensor, table: BlockTable) -> tuple[Tensor, Tensor, Tensor]:
    """Means of keys and values of each block `(b, h, columns, d)`, and the bias of their numbers' logarithms."""
    exists = torch.ones(1, 1, table.k_positions, device=k.device) if table.k_order is None else table.k_order >= 0
    counts = _sums(exists.float()[..., None], table)
    means = [
        (_sums(in_order(each, table.k_order) * exists[..., None], table) / counts.clamp(min=1)).to(each.dtype)
        for each in (k, v)
    ]
    return means[0], means[1], counts.log().mT


def _sums(x: Tensor, table: BlockTable) -> Tensor:
    """Sums of `(b, h, positions, d)` over blocks of keys `(b, h, columns, d)`, in at least float32."""
    padded = torch.nn.functional.pad(x, (0, 0, 0, table.columns * table.block_k - x.shape[2]))
    exact = torch.promote_types(x.dtype, torch.float32)
    return padded.view(*x.shape[:2], table.columns, table.block_k, x.shape[3]).sum(3, dtype=exact)
