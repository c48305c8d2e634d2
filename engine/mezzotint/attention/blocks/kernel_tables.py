"""Tables in the forms that kernels take: in their blocks, and transposed for the backward pass; made once for each."""

from collections.abc import Callable
from weakref import WeakKeyDictionary

import torch
from torch import Tensor

from mezzotint.attention.blocks.building import BLOCK
from mezzotint.attention.blocks.table import PARTIAL, BlockTable, row_order


def _once(make: Callable[[BlockTable], BlockTable]) -> Callable[[BlockTable], BlockTable]:
    """Keep what is made of a table as long as the table lives."""
    made: WeakKeyDictionary[BlockTable, BlockTable] = WeakKeyDictionary()

    def known(table: BlockTable) -> BlockTable:
        found = made.get(table)
        if found is None:
            found = made[table] = make(table)
        return found

    return known


def in_kernel_blocks(table: BlockTable) -> BlockTable:
    """The same table in blocks of 64 x 64 if its own are smaller and divide them; else as it is."""
    smaller = table.block_q < BLOCK or table.block_k < BLOCK
    return _widened(table) if smaller and BLOCK % table.block_q == BLOCK % table.block_k == 0 else table


@_once
def _widened(table: BlockTable) -> BlockTable:
    """Join blocks to larger ones, most of which are partial. Waits for the device."""
    down, across = BLOCK // table.block_q, BLOCK // table.block_k
    rows, columns = -(-table.q_positions // BLOCK), -(-table.k_positions // BLOCK)
    entry_row, col = table.entry_rows(), (table.col & ~PARTIAL).long()
    number, row = entry_row // table.rows, entry_row % table.rows
    place, joined = torch.unique((number * rows + row // down) * columns + col // across, return_inverse=True)
    words = table.words(torch.arange(len(col), device=col.device)) & _lowest_bits(table.block_k)
    words = words << (col % across * table.block_k)[:, None]
    query = joined * BLOCK + row % down * table.block_q
    within = torch.arange(table.block_q, device=col.device)
    bits = words.new_zeros(len(place) * BLOCK).index_add_(0, (query[:, None] + within).flatten(), words.flatten())
    bits = bits.view(-1, BLOCK)
    partial = (bits != -1).any(1)
    row_ptr = _row_ptr(place // columns, table.batch * table.heads * rows)
    return BlockTable(
        q_tokens=table.q_tokens,
        k_tokens=table.k_tokens,
        block_q=BLOCK,
        block_k=BLOCK,
        batch=table.batch,
        heads=table.heads,
        row_ptr=row_ptr,
        col=(place % columns + PARTIAL * partial).int(),
        tile=(partial.cumsum(0) - 1).masked_fill(~partial, 0).int(),
        bits=bits[partial],
        q_order=table.q_order,
        k_order=table.k_order,
        row_order=row_order(row_ptr, table.batch * table.heads),
        pooled=table.pooled,
    )


@_once
def transposed(table: BlockTable) -> BlockTable:
    """Which blocks of 64 queries see each block of 64 keys: a table by position, of keys, with a word for each.

    Blocks of queries are ascending; those beyond the last, which half a row of 128 may be, come last and have none.
    """
    halves = table.block_q // BLOCK
    half = torch.arange(halves, device=table.col.device)
    entry_row, col = table.entry_rows(), (table.col & ~PARTIAL).long()
    number, row = entry_row // table.rows, entry_row % table.rows
    seen, order = (number * table.columns + col).repeat_interleave(halves).sort(stable=True)
    partial = (table.col & PARTIAL)[:, None]
    return BlockTable(
        q_tokens=table.k_positions,
        k_tokens=table.q_positions,
        block_q=BLOCK,
        block_k=BLOCK,
        batch=table.batch,
        heads=table.heads,
        row_ptr=_row_ptr(seen, table.batch * table.heads * table.columns),
        col=(row[:, None] * halves + half + partial).flatten()[order].int(),
        tile=(table.tile[:, None] * halves + half).flatten()[order].int(),
        bits=transposed_bits(table.bits.view(-1, BLOCK)),
    )


def _row_ptr(row_of_entries: Tensor, rows: int) -> Tensor:
    """Where the entries of each row begin, whose rows ascend, and where those of the last end."""
    return torch.searchsorted(row_of_entries, torch.arange(rows + 1, device=row_of_entries.device)).int()


def transposed_bits(words: Tensor) -> Tensor:
    """Transpose matrices of bits, `(matrices, 64)` of int64: bit j of word i becomes bit i of word j.

    The upper right and lower left quarters are exchanged, then those of each quarter, and so on.
    """
    side = BLOCK // 2
    while side:
        left = _left_of_each(side)
        upper, lower = words.view(-1, BLOCK // (2 * side), 2, side).unbind(2)
        moved = (upper >> side ^ lower) & left
        words = torch.stack([upper ^ moved << side, lower ^ moved], dim=2).view(-1, BLOCK)
        side //= 2
    return words


def _left_of_each(side: int) -> int:
    """A word with the lower half of every 2 * side bits set."""
    return sum(_lowest_bits(side) << first for first in range(0, BLOCK, 2 * side))


def _lowest_bits(count: int) -> int:
    return -1 if count == BLOCK else (1 << count) - 1
