"""The block table: which blocks of keys each block of queries sees, in compressed rows, and how tokens are ordered."""

from dataclasses import dataclass, fields, replace
from typing import Any

import torch
from torch import Tensor

PARTIAL = 1 << 30  # of a column: some queries see only some keys of the block


@dataclass(frozen=True, slots=True, weakref_slot=True, kw_only=True, eq=False)
class BlockTable:
    """Blocks seen by each batch, head and block of queries; `MztBlockTable` of kernels/csrc/api.h is the same in C.

    Queries and keys are numbered by position: `q_order` and `k_order` say which token is where, -1 where there is
    none. Without an order the position is the token.
    """

    q_tokens: int
    k_tokens: int
    block_q: int
    block_k: int  # at most 64
    batch: int  # tables, 1: the same for all
    heads: int
    row_ptr: Tensor  # (batch * heads * rows + 1,) of int32: where the entries of a row begin
    col: Tensor  # (entries,) of int32: block of keys, ascending within a row, with PARTIAL if bits decide
    tile: Tensor  # (entries,) of int32: index into bits, 0 where the entry is not partial
    bits: Tensor  # (partial tiles, block_q) of int64: bit j of a query's word is set if it sees key j of the block
    q_order: Tensor | None = None  # (batch or 1, heads or 1, positions) of int64: each token once, and -1
    k_order: Tensor | None = None
    row_order: Tensor | None = None  # (batch * heads * rows,) of int32: of each table's rows, the longest first
    # How many rows of each table have how many entries, in order, where that is known without asking the device.
    lengths: tuple[tuple[int, int], ...] = ()
    pooled: bool = False  # the blocks that a row does not name count as one key each, see tail.py

    @property
    def q_positions(self) -> int:
        """Number of queries with padding."""
        return self.q_tokens if self.q_order is None else self.q_order.shape[-1]

    @property
    def k_positions(self) -> int:
        """Number of keys with padding."""
        return self.k_tokens if self.k_order is None else self.k_order.shape[-1]

    @property
    def rows(self) -> int:
        """Blocks of queries."""
        return -(-self.q_positions // self.block_q)

    @property
    def columns(self) -> int:
        """Blocks of keys."""
        return -(-self.k_positions // self.block_k)

    @property
    def stride_head(self) -> int:
        """Rows from a head's table to that of the next; 0 if it is the same."""
        return self.rows if self.heads > 1 else 0

    @property
    def stride_batch(self) -> int:
        """Rows from a batch item's tables to those of the next; 0 if they are the same."""
        return self.rows * self.heads if self.batch > 1 else 0

    @property
    def density(self) -> float:
        """Fraction of all blocks that are computed."""
        return self.col.numel() / max(self.batch * self.heads * self.rows * self.columns, 1)

    def to(self, device: torch.device | str) -> "BlockTable":
        """Return the table with its tensors on the device."""
        values = {each.name: getattr(self, each.name) for each in fields(self)}
        moved: dict[str, Any] = {name: each.to(device) for name, each in values.items() if isinstance(each, Tensor)}
        return replace(self, **moved)

    def entry_rows(self) -> Tensor:
        """Row of each entry, counted over all tables, `(entries,)` of int64."""
        entries = torch.arange(len(self.col), device=self.col.device)
        return torch.searchsorted(self.row_ptr[1:].long(), entries, right=True)  # waits for no device

    def seen_positions(self) -> Tensor:
        """The dense mask by position, `(batch, heads, q_positions, k_positions)` of bool."""
        rows = self.batch * self.heads * self.rows
        blocks = torch.zeros(rows, self.columns, self.block_q, self.block_k, dtype=torch.bool, device=self.col.device)
        blocks[self.entry_rows(), (self.col & ~PARTIAL).long()] = self.tiles(torch.arange(len(self.col)))
        whole = blocks.view(self.batch, self.heads, self.rows, self.columns, self.block_q, self.block_k)
        whole = whole.transpose(3, 4).flatten(4, 5).flatten(2, 3)
        return whole[:, :, : self.q_positions, : self.k_positions]

    def seen(self) -> Tensor:
        """The dense mask by token, `(batch or 1, heads or 1, q_tokens, k_tokens)` of bool."""
        mask = self.seen_positions()
        if self.q_order is not None:
            mask = restored(mask, self.q_order, self.q_tokens)
        if self.k_order is not None:
            mask = restored(mask.mT, self.k_order, self.k_tokens).mT
        return mask

    def tiles(self, entries: Tensor) -> Tensor:
        """What the entries show, `(*entries, block_q, block_k)` of bool."""
        entries = entries.to(self.col.device)
        if not len(self.bits):
            return self.col.new_ones(*entries.shape, self.block_q, self.block_k).bool()
        words = self.words(entries)
        return (words[..., None] >> torch.arange(self.block_k, device=words.device) & 1).bool()

    def words(self, entries: Tensor) -> Tensor:
        """Bits of the entries, all of those of whole blocks, `(*entries, block_q)` of int64."""
        partial = (self.col[entries] & PARTIAL).bool()
        if not len(self.bits):
            return self.bits.new_full((*entries.shape, self.block_q), -1)
        return self.bits[self.tile[entries].long()].masked_fill(~partial[..., None], -1)


def row_order(row_ptr: Tensor, tables: int) -> Tensor | None:
    """The order of each table's rows with the longest first, `(tables * rows,)` of int32; None if that is theirs."""
    lengths = row_ptr.diff().view(tables, -1)
    order = lengths.argsort(dim=1, descending=True, stable=True).int()
    is_theirs = torch.equal(
        order, torch.arange(order.shape[1], device=order.device, dtype=order.dtype).expand_as(order)
    )
    return None if is_theirs else order.flatten()


def in_order(x: Tensor, order: Tensor | None) -> Tensor:
    """Return x `(b, h, tokens, d)` by position, `(b, h, positions, d)`; padding repeats a token.

    If h heads share each head of x and the order differs between them, x is repeated for each.
    """
    if order is None:
        return x
    if order.shape[1] > x.shape[1]:
        x = x.repeat_interleave(order.shape[1] // x.shape[1], dim=1)
    if order.shape[:2] == (1, 1):
        return x.index_select(2, order[0, 0].clamp(min=0))
    index = order.clamp(min=0)[..., None].expand(x.shape[0], x.shape[1], -1, x.shape[3])
    return x.gather(2, index)


def restored(x: Tensor, order: Tensor, tokens: int) -> Tensor:
    """Return x `(b, h, positions, d)` by token, `(b, h, tokens, d)`."""
    places = order.new_empty(*order.shape[:2], tokens + 1)
    positions = torch.arange(order.shape[2], device=order.device).expand_as(order)
    places.scatter_(2, order.where(order >= 0, tokens), positions)
    x = x.expand(max(x.shape[0], order.shape[0]), max(x.shape[1], order.shape[1]), -1, -1)
    return in_order(x, places[..., :tokens])
