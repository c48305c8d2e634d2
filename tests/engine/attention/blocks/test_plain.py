"""Attention by blocks is attention with a dense mask; also in its gradients."""

import math
from dataclasses import replace

import pytest
import torch

from mezzotint.attention.blocks.building import build_table
from mezzotint.attention.blocks.chosen import Centroids, hashed_table, routed_table, top_table
from mezzotint.attention.blocks.grids import Grid, shifted_table, window_table
from mezzotint.attention.blocks.patterns import bigbird_table, full_table, local_table, strided_table
from mezzotint.attention.blocks.plain import block_attention
from mezzotint.attention.blocks.pooling import left_out
from mezzotint.attention.blocks.reference import block_reference
from mezzotint.attention.blocks.table import PARTIAL
from mezzotint.attention.blocks.tail import tail_reference
from mezzotint.attention.reference import attention_reference


def random_table(batch, heads, nq, nk, *, density=0.4, block_q=16, block_k=16, order=None, seed=0):
    """Blocks and tokens at random; some rows see nothing."""
    generator = torch.Generator().manual_seed(seed)
    rows, columns = -(-(nq if order is None else len(order)) // block_q), -(-nk // block_k)
    candidates = torch.rand(batch, heads, rows, columns, generator=generator) < density
    shown = torch.rand(nq, nk, generator=generator) < 0.5
    return build_table(
        candidates, nq, nk, lambda i, j: shown[i, j] | (i % 3 == 0), block_q=block_q, block_k=block_k, q_order=order
    )


def tensors(batch, heads, kv_heads, nq, nk, dtype=torch.float64):
    generator = torch.Generator().manual_seed(7)
    shapes = ((batch, heads, nq, 8), (batch, kv_heads, nk, 8), (batch, kv_heads, nk, 8))
    return [torch.randn(shape, generator=generator, dtype=dtype).requires_grad_() for shape in shapes]


TABLES = {
    "shared": (random_table(1, 1, 70, 50), 2, 4, 2),
    "by head": (random_table(1, 4, 70, 50), 2, 4, 2),
    "by batch": (random_table(2, 1, 70, 50), 2, 4, 4),
    "by both": (random_table(2, 4, 70, 50), 2, 4, 1),
    "other blocks": (random_table(1, 2, 200, 100, block_q=128, block_k=32), 1, 2, 2),
    "padded order": (
        random_table(1, 1, 40, 50, order=torch.tensor([-1, *range(39, -1, -1), -1, -1])), 2, 2, 2,
    ),
    "window": (window_table(Grid(height=10, width=13, text_before=7), 1, block=16), 2, 2, 1),
    "shifted": (shifted_table(Grid(height=10, width=13, text_after=7), 5, 2, block=16), 2, 2, 2),
    "local": (local_table(100, 9), 1, 2, 2),
    "strided": (strided_table(100, 7, block=16), 1, 2, 2),
    "bigbird": (bigbird_table(100, 1, block=16), 1, 2, 2),
}  # fmt: skip


@pytest.mark.parametrize("name", TABLES)
def test_blocks_are_attention_with_a_mask(name):
    table, batch, heads, kv_heads = TABLES[name]
    q, k, v = tensors(batch, heads, kv_heads, table.q_tokens, table.k_tokens)
    out, (wanted, lse) = block_attention(q, k, v, table, 0.4), block_reference(q, k, v, table, 0.4)
    torch.testing.assert_close(out, wanted)
    weights = torch.randn(out.shape, generator=torch.Generator().manual_seed(1), dtype=out.dtype)
    found, exact = (torch.autograd.grad(each, (q, k, v), weights) for each in (out, wanted))
    for one, other in zip(found, exact, strict=True):
        torch.testing.assert_close(one, other.nan_to_num(0.0))
    blind = ~table.seen().any(-1).expand(lse.shape)
    assert (out[blind] == 0).all() and (lse[blind] == -math.inf).all() and lse[~blind].isfinite().all()


@pytest.mark.parametrize("name", TABLES)
def test_blocks_left_out_count_as_their_means(name):
    table, batch, heads, kv_heads = TABLES[name]
    table = replace(table, pooled=True)
    q, k, v = tensors(batch, heads, kv_heads, table.q_tokens, table.k_tokens)
    named = torch.zeros(table.batch * table.heads * table.rows, table.columns, dtype=torch.bool)
    named[table.entry_rows(), (table.col & ~PARTIAL).long()] = True
    assert torch.equal(left_out(table), ~named)
    out, wanted = block_attention(q, k, v, table, 0.4), tail_reference(q, k, v, table, 0.4)
    torch.testing.assert_close(out, wanted)  # 0 where all blocks are named, and hide every key


@pytest.mark.parametrize("name", ["shared", "window"])
def test_known_lengths_give_the_same(name):
    table, batch, heads, kv_heads = TABLES[name]
    q, k, v = tensors(batch, heads, kv_heads, table.q_tokens, table.k_tokens)
    known = replace(table, lengths=tuple((1, count) for count in table.row_ptr.diff().tolist()))
    assert torch.equal(block_attention(q, k, v, known), block_attention(q, k, v, table))


def test_a_table_without_entries():
    table = random_table(1, 1, 20, 20, density=0.0)
    q, k, v = tensors(1, 2, 2, 20, 20)
    assert (block_attention(q, k, v, table) == 0).all() and (block_reference(q, k, v, table)[1] == -math.inf).all()


def test_orders_by_head():
    q, k, v = tensors(2, 4, 4, 60, 60)
    for table in (
        hashed_table(q, 8, chunk=16, block=16),
        routed_table(q, k, Centroids.seeded(4, 4, 8, seed=0), block=16),
        top_table(q, k, 2, block=16),
    ):
        torch.testing.assert_close(block_attention(q, k, v, table), block_reference(q, k, v, table)[0])


def test_orders_by_head_of_shared_keys():
    q, k, v = tensors(1, 4, 2, 60, 60)
    table = routed_table(q, k.repeat_interleave(2, 1), Centroids.seeded(4, 4, 8, seed=0), block=16)
    torch.testing.assert_close(block_attention(q, k, v, table), block_reference(q, k, v, table)[0])


def test_a_full_table_is_attention():
    q, k, v = tensors(1, 2, 2, 40, 70)
    torch.testing.assert_close(block_attention(q, k, v, full_table(40, 70)), attention_reference(q, k, v)[0])


def test_sixteen_bits_stay():
    q, k, v = (each.detach().bfloat16() for each in tensors(1, 2, 2, 40, 40))
    out = block_attention(q, k, v, local_table(40, 8, block=16))
    assert out.dtype is torch.bfloat16
    torch.testing.assert_close(out.double(), block_reference(q, k, v, local_table(40, 8))[0], atol=0.03, rtol=0.03)
