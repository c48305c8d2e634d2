"""Building a table from candidate blocks and a rule for single tokens."""

from collections.abc import Callable
from typing import TypeAlias

import torch
from torch import Tensor

from mezzotint.attention.blocks.table import PARTIAL, BlockTable, row_order

Rule: TypeAlias = Callable[[Tensor, Tensor], Tensor]  # tokens of queries and keys, broadcast against each other: bool

BLOCK = 64  # of the kernels
_AT_ONCE = 512  # blocks whose tokens are compared together


def build_table(
    candidates: Tensor,
    q_tokens: int,
    k_tokens: int,
    rule: Rule | None = None,
    *,
    block_q: int = BLOCK,
    block_k: int = BLOCK,
    q_order: Tensor | None = None,
    k_order: Tensor | None = None,
) -> BlockTable:
    """Return the table of the candidates `(batch, heads, rows, columns)` of bool in which the rule shows something.

    Without a rule they are seen whole. Orders `(positions,)` name the token at each position, -1 for none.
    """
    queries = _blocks(q_order, q_tokens, candidates.shape[2], block_q, candidates.device)
    keys = _blocks(k_order, k_tokens, candidates.shape[3], block_k, candidates.device)
    pairs = candidates.nonzero()
    parts = [_evaluate(queries[each[:, 2]], keys[each[:, 3]], rule) for each in torch.split(pairs, _AT_ONCE)]
    seen, whole, words = (torch.cat(each) for each in zip(*parts, strict=True))
    pairs, whole, words = pairs[seen], whole[seen], words[seen]
    batch, heads, rows, _ = candidates.shape
    row = (pairs[:, 0] * heads + pairs[:, 1]) * rows + pairs[:, 2]
    ends = torch.bincount(row, minlength=batch * heads * rows).cumsum(0)
    row_ptr = torch.cat([ends.new_zeros(1), ends]).int()
    tile = (~whole).cumsum(0) - 1
    return BlockTable(
        q_tokens=q_tokens,
        k_tokens=k_tokens,
        block_q=block_q,
        block_k=block_k,
        batch=batch,
        heads=heads,
        row_ptr=row_ptr,
        col=(pairs[:, 3] + PARTIAL * ~whole).int(),
        tile=tile.masked_fill(whole, 0).int(),
        bits=words[~whole],
        q_order=None if q_order is None else q_order[None, None],
        k_order=None if k_order is None else k_order[None, None],
        row_order=row_order(row_ptr, batch * heads),
    )


# Beyond the last position; unlike padding, nobody looks there.
_OUTSIDE = -2


def _blocks(order: Tensor | None, tokens: int, count: int, block: int, device: torch.device) -> Tensor:
    """Return the tokens of each block, `(count, block)`."""
    order = torch.arange(tokens, device=device) if order is None else order
    return torch.nn.functional.pad(order, (0, count * block - len(order)), value=_OUTSIDE).view(count, block)


def _evaluate(queries: Tensor, keys: Tensor, rule: Rule | None) -> tuple[Tensor, Tensor, Tensor]:
    """Return whether blocks show anything and everything `(pairs,)`, and a word for each query `(pairs, block_q)`.

    Queries that do not exist, and keys beyond the last, do not keep a block from being whole.
    """
    i, j = queries[:, :, None], keys[:, None, :]
    shown = (i >= 0) & (j >= 0)
    if rule is not None:
        shown &= rule(i.clamp(min=0), j.clamp(min=0))
    missing = (i < 0) | (j == _OUTSIDE)
    seen, whole = shown.flatten(1).any(1), (shown | missing).flatten(1).all(1)
    bit = torch.ones((), dtype=torch.int64, device=keys.device) << torch.arange(keys.shape[1], device=keys.device)
    return seen, whole, (shown * bit).sum(-1)


def near(coordinates: Tensor, reach: int, block: int) -> Tensor:
    """Blocks that may contain coordinates `(positions,)` at most `reach` apart, `(1, 1, rows, rows)` of bool."""
    rows = -(-len(coordinates) // block)
    missing = rows * block - len(coordinates)
    padded = torch.cat([coordinates, coordinates[-1:].expand(missing)]).view(rows, block)
    low, high = padded.amin(1), padded.amax(1)
    return ((low[None] - reach <= high[:, None]) & (high[None] + reach >= low[:, None]))[None, None]


def across(positions: Tensor, block: int) -> Tensor:
    """Rows and columns of blocks with any of these positions `(positions,)` of bool, `(1, 1, rows, rows)` of bool."""
    rows = -(-len(positions) // block)
    found = torch.nn.functional.pad(positions, (0, rows * block - len(positions))).view(rows, block).any(1)
    return (found[:, None] | found[None])[None, None]
