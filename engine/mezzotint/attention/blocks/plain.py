"""Attention by a block table in plain torch that computes only the blocks of the table; autograd records it."""

from dataclasses import dataclass

import torch
from torch import Tensor

from mezzotint.attention.blocks.table import PARTIAL, BlockTable, in_order, restored


def block_attention(q: Tensor, k: Tensor, v: Tensor, table: BlockTable, scale: float | None = None) -> Tensor:
    """Same as `block_reference` without the LSE: `(b, h, nq, d)` in q's dtype.

    Rows with the same number of blocks are computed together, by torch's SDPA over their keys side by side.
    """
    by_position = in_order(q, table.q_order)
    sharing = _Sharing(q.shape[0], q.shape[1], table)
    queries = sharing.blocks(by_position, table.rows, table.block_q)
    keys, values = (sharing.blocks(in_order(each, table.k_order), table.columns, table.block_k) for each in (k, v))
    out, counts = torch.zeros_like(queries), table.row_ptr.diff()
    for count in sorted(set(counts.tolist())):
        if count:
            rows = (counts == count).nonzero()[:, 0]
            out[:, rows] = _attend(queries, keys, values, table, rows, count, scale)
    out = sharing.tokens(out, table.q_positions)
    return out if table.q_order is None else restored(out, table.q_order, table.q_tokens)


def _attend(
    queries: Tensor, keys: Tensor, values: Tensor, table: BlockTable, rows: Tensor, count: int, scale: float | None
) -> Tensor:
    """Attention of rows of `count` blocks each, `(sharing, rows, block_q, d)`."""
    entries = table.row_ptr[rows].long()[:, None] + torch.arange(count, device=rows.device)
    columns = (table.col[entries] & ~PARTIAL).long()
    seen = table.tiles(entries)  # (rows, count, block_q, block_k)
    exists = columns[..., None] * table.block_k + torch.arange(table.block_k, device=rows.device) < table.k_positions
    seen = (seen & exists[:, :, None]).transpose(1, 2).flatten(2)
    blind = ~seen.any(dim=-1, keepdim=True)  # they look at everything, so that no gradient is NaN, and become 0
    columns = columns + (rows // table.rows * table.columns)[:, None]
    out = torch.nn.functional.scaled_dot_product_attention(
        queries[:, rows],
        keys[:, columns].flatten(2, 3),
        values[:, columns].flatten(2, 3),
        attn_mask=(seen | blind)[None],
        scale=scale,
    )
    return out.masked_fill(blind, 0.0)


@dataclass(frozen=True, slots=True)
class _Sharing:
    """Batches and heads of an attention call, some of which share a table."""

    batch: int
    heads: int
    table: BlockTable

    def blocks(self, x: Tensor, count: int, block: int) -> Tensor:
        """Return `(b, h or fewer, n, d)` as `(sharing, tables * count, block, d)`."""
        x = x.repeat_interleave(self.heads // x.shape[1], dim=1)
        padded = torch.nn.functional.pad(x, (0, 0, 0, count * block - x.shape[2]))
        split = padded.reshape(*self._split(), count, block, x.shape[3]).transpose(1, 2)
        return split.flatten(2, 4).flatten(0, 1)

    def tokens(self, blocks: Tensor, tokens: int) -> Tensor:
        """Return the blocks of queries as `(b, h, tokens, d)`."""
        shared_batch, batch, shared_heads, heads = self._split()
        split = blocks.view(shared_batch, shared_heads, batch, heads, -1, blocks.shape[3]).transpose(1, 2)
        return split.reshape(self.batch, self.heads, -1, blocks.shape[3])[:, :, :tokens]

    def _split(self) -> tuple[int, int, int, int]:
        batch, heads = self.table.batch, self.table.heads
        return self.batch // batch, batch, self.heads // heads, heads
