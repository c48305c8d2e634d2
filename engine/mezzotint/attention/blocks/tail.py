"""Attention by a block table in which the blocks left out still count, each as one key (Sol-Attn's pooled tail).

The tokens of such a block are replaced by their mean key and mean value, and its score grows by the logarithm of their
number: as if all of them were at their mean. So the softmax is over all keys, and nothing is lost to it.
"""

import math
from dataclasses import replace

import torch
from torch import Tensor

from mezzotint.attention.blocks.kernels import kernel_attention
from mezzotint.attention.blocks.pooling import left_out, pooled_keys
from mezzotint.attention.blocks.table import PARTIAL, BlockTable, in_order, restored
from mezzotint.attention.compiled import CompiledAttention
from mezzotint.attention.masks import Masks
from mezzotint.attention.reference import attention_reference

_KEYS = 64  # of a block of the kernels


def tail_attention(
    kernels: CompiledAttention,
    q: Tensor,
    k: Tensor,
    v: Tensor,
    table: BlockTable,
    scale: float | None = None,
    *,
    int8: bool = False,
) -> Tensor:
    """Attention of the table's blocks and of the means of all others `(b, h, nq, d)`, by two launches.

    q `(b, h, nq, d)`, k and v `(b, h / g, nk, d)`. Raises Unsupported if there is no kernel, or gradients are wanted.
    """
    exact = kernel_attention(kernels, q, k, v, table, scale, int8=int8, with_lse=True)
    keys, values, sizes = pooled_keys(k, v, table)
    means = tail_table(table)
    if table.q_order is not None:
        means = replace(means, q_tokens=table.q_tokens, q_order=table.q_order)
    rest = kernel_attention(kernels, q, keys, values, means, scale, bias=sizes, with_lse=True)
    return merged(exact, rest)


def tail_reference(q: Tensor, k: Tensor, v: Tensor, table: BlockTable, scale: float | None = None) -> Tensor:
    """The same in float64 with a dense mask over all keys and all means."""
    q, k, v = q.double(), k.double(), v.double()
    keys, values, sizes = pooled_keys(k, v, table)
    seen, means = table.seen_positions(), tail_table(table).seen_positions()
    hidden = [~each.expand(len(sizes), *each.shape[1:]) if len(sizes) > len(each) else ~each for each in (seen, means)]
    shown = torch.zeros_like(hidden[0], dtype=q.dtype).masked_fill(hidden[0], -math.inf)
    counted = (sizes + torch.zeros_like(hidden[1], dtype=q.dtype)).masked_fill(hidden[1], -math.inf)
    heads = max(shown.shape[1], counted.shape[1])
    bias = torch.cat([each.expand(-1, heads, -1, -1) for each in (shown, counted)], dim=-1)
    keys, values = (torch.cat([in_order(one, table.k_order), other], 2) for one, other in ((k, keys), (v, values)))
    out = attention_reference(in_order(q, table.q_order), keys, values, Masks(bias=bias), scale)[0]
    return out if table.q_order is None else restored(out, table.q_order, table.q_tokens)


def tail_table(table: BlockTable) -> BlockTable:
    """The table of the means, one of each block of keys: each row sees those of the blocks that it does not name."""
    rows, blocks = table.batch * table.heads * table.rows, -(-table.columns // _KEYS)
    left = torch.nn.functional.pad(left_out(table), (0, blocks * _KEYS - table.columns))
    bit = torch.ones((), dtype=torch.int64, device=left.device) << torch.arange(_KEYS, device=left.device)
    words = (left.view(rows, blocks, _KEYS) * bit).sum(-1)
    block = torch.arange(blocks, device=left.device).repeat(rows)
    return BlockTable(
        q_tokens=table.q_positions,
        k_tokens=table.columns,
        block_q=table.block_q,
        block_k=_KEYS,
        batch=table.batch,
        heads=table.heads,
        row_ptr=torch.arange(0, rows * blocks + 1, blocks, device=left.device).int(),
        col=(block + PARTIAL).int(),
        tile=torch.arange(rows * blocks, device=left.device).int(),
        bits=words.view(-1, 1).repeat(1, table.block_q),
    )


def merged(one: tuple[Tensor, Tensor | None], other: tuple[Tensor, Tensor | None]) -> Tensor:
    """Attention over two sets of keys from that over each: outputs `(b, h, n, d)` and LSEs `(b, h, n)`."""
    (first, lse), (second, more) = one, other
    if lse is None or more is None:
        raise ValueError("outputs are merged by their LSEs, and there are none")
    total = torch.logaddexp(lse, more)
    total = total.masked_fill(total == -math.inf, 0.0)  # where nothing is seen, both outputs are 0
    parts = [torch.exp(each - total)[..., None] * out for each, out in ((lse, first), (more, second))]
    return (parts[0] + parts[1]).to(first.dtype)
