"""Attention by a block table in plain torch that computes only the blocks of the table; autograd records it."""

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from mezzotint.attention.blocks.pooling import left_out, pooled_keys
from mezzotint.attention.blocks.table import PARTIAL, BlockTable, in_order, restored

# Numbers of keys that lie side by side at a time: those that stay in a processor's cache, or keep a device busy.
_IN_CACHE, _ON_DEVICE = 1 << 18, 1 << 26


def block_attention(q: Tensor, k: Tensor, v: Tensor, table: BlockTable, scale: float | None = None) -> Tensor:
    """Same as `block_reference` or `tail_reference` without the LSE: `(b, h, nq, d)` in q's dtype.

    Rows with the same number of blocks are computed together, by torch's SDPA over their keys side by side.
    """
    sharing = _Sharing(q.shape[0], q.shape[1], table)
    blocks = _Blocks.of(q, k, v, table, sharing)
    out = torch.zeros_like(blocks.queries)
    for count, alike in _rows_alike(table):
        if count or table.pooled:
            for rows in torch.split(alike, blocks.at_once(count)):
                out[:, rows] = _attend(blocks, rows, count, scale)
    out = sharing.tokens(out, table.q_positions)
    return out if table.q_order is None else restored(out, table.q_order, table.q_tokens)


def _rows_alike(table: BlockTable) -> Iterator[tuple[int, Tensor]]:
    """Numbers of blocks, and the rows that have them."""
    if not table.lengths:
        counts = table.row_ptr.diff()
        yield from ((count, (counts == count).nonzero()[:, 0]) for count in sorted(set(counts.tolist())))
        return
    begin, device = 0, table.col.device
    first = torch.arange(table.batch * table.heads, device=device)[:, None] * table.rows
    for rows, count in table.lengths:
        if rows:
            yield count, (first + torch.arange(begin, begin + rows, device=device)).flatten()
        begin += rows


@dataclass(frozen=True, slots=True)
class _Blocks:
    """Blocks of queries, keys and values, `(sharing, tables * count, block, d)`, and the mean of each of the keys'."""

    table: BlockTable
    queries: Tensor
    keys: Tensor
    values: Tensor
    # Of keys and of values (sharing, tables, columns, d), and their bias (tables * rows, columns): the logarithm of how
    # many they stand for, -inf in rows that see the block itself.
    means: tuple[Tensor, Tensor, Tensor] | None

    @classmethod
    def of(cls, q: Tensor, k: Tensor, v: Tensor, table: BlockTable, sharing: "_Sharing") -> "_Blocks":
        """Split tokens into blocks."""
        queries = sharing.blocks(in_order(q, table.q_order), table.rows, table.block_q)
        keys, values = (sharing.blocks(in_order(x, table.k_order), table.columns, table.block_k) for x in (k, v))
        return cls(table, queries, keys, values, _means(k, v, table, sharing) if table.pooled else None)

    def at_once(self, count: int) -> int:
        """Rows of `count` blocks that are computed together."""
        sharing, _, block, dim = self.keys.shape
        most = _IN_CACHE if self.keys.device.type == "cpu" else _ON_DEVICE
        return max(1, most // (sharing * max(count, 1) * block * dim))


def _means(k: Tensor, v: Tensor, table: BlockTable, sharing: "_Sharing") -> tuple[Tensor, Tensor, Tensor]:
    keys, values, sizes = pooled_keys(k, v, table)
    size = (-1, table.batch * table.heads, table.columns, k.shape[3])
    keys, values = (sharing.blocks(each, table.columns, 1).view(size) for each in (keys, values))
    wide = sizes.to(torch.promote_types(sizes.dtype, k.dtype))
    bias = wide.expand(table.batch, table.heads, table.rows, -1).flatten(0, 2)
    return keys, values, bias.masked_fill(~left_out(table), -torch.inf)


def _attend(blocks: _Blocks, rows: Tensor, count: int, scale: float | None) -> Tensor:
    """Attention of rows of `count` blocks each, `(sharing, rows, block_q, d)`."""
    table = blocks.table
    entries = table.row_ptr[rows].long()[:, None] + torch.arange(count, device=rows.device)
    columns = (table.col[entries] & ~PARTIAL).long()
    seen = _seen(table, entries, columns)
    columns = columns + (rows // table.rows * table.columns)[:, None]
    keys, values = (each[:, columns].flatten(2, 3) for each in (blocks.keys, blocks.values))
    mask, blind = seen, None
    if blocks.means is not None:
        more, of_more, bias = blocks.means
        numbers, tables = bias[rows][:, None], rows // table.rows
        exact = numbers.new_zeros(len(rows), 1, keys.shape[2])
        exact = exact if seen is None else exact.masked_fill(~seen, -torch.inf)
        mask = torch.cat([exact, numbers.expand(-1, exact.shape[1], -1)], dim=2)
        keys, values = torch.cat([keys, more[:, tables]], 2), torch.cat([values, of_more[:, tables]], 2)
    elif seen is not None:
        blind = ~seen.any(dim=-1, keepdim=True)  # they look at everything, so that no gradient is NaN, and become 0
        mask = seen | blind
    out = torch.nn.functional.scaled_dot_product_attention(
        blocks.queries[:, rows], keys, values, attn_mask=None if mask is None else mask[None], scale=scale
    )
    return out if blind is None else out.masked_fill(blind, 0.0)


def _seen(table: BlockTable, entries: Tensor, columns: Tensor) -> Tensor | None:
    """Which keys the queries of rows see, `(rows, block_q, count * block_k)` of bool; None: all."""
    on_cpu = columns.device.type == "cpu"  # another device would have to be waited for
    is_whole = not len(table.bits) or (on_cpu and not bool((table.col[entries] & PARTIAL).any()))
    if is_whole and not table.k_positions % table.block_k:
        return None
    exists = columns[..., None] * table.block_k + torch.arange(table.block_k, device=columns.device) < table.k_positions
    return (table.tiles(entries) & exists[:, :, None]).transpose(1, 2).flatten(2)


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
