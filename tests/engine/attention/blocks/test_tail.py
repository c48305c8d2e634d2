"""Blocks that are left out count as one key each."""

import math

import pytest
import torch
from fake_kernels import FakeKernels

from mezzotint.attention.blocks.building import build_table
from mezzotint.attention.blocks.chosen import hashed_table
from mezzotint.attention.blocks.grids import Grid, window_table
from mezzotint.attention.blocks.patterns import full_table, local_table, neighbour_table
from mezzotint.attention.blocks.tail import merged, tail_attention, tail_reference, tail_table
from mezzotint.attention.compiled import CompiledAttention
from mezzotint.attention.masks import Masks
from mezzotint.attention.reference import attention_reference


def tensors(nq, nk, batch=1, heads=2, kv_heads=2, dtype=torch.bfloat16):
    generator = torch.Generator().manual_seed(nq + nk)
    shapes = ((batch, heads, nq, 16), (batch, kv_heads, nk, 16), (batch, kv_heads, nk, 16))
    return [torch.randn(shape, generator=generator).to(dtype) for shape in shapes]


def by_head(nq, nk):
    candidates = torch.rand(1, 2, -(-nq // 64), -(-nk // 64), generator=torch.Generator().manual_seed(1)) < 0.4
    return build_table(candidates, nq, nk, lambda i, j: (i + j) % 3 > 0)


def test_a_row_by_its_definition():
    """64 tokens that it sees, and 70 that count as two means, the last of 6 tokens."""
    table, (q, k, v) = neighbour_table(134, 0), tensors(134, 134, dtype=torch.float64)
    row, keys, values = q[0, 1, 3], k[0, 1], v[0, 1]
    scores = [float(row @ key) / 4 for key in keys[:64]]
    scores += [float(row @ keys[64:128].mean(0)) / 4 + math.log(64), float(row @ keys[128:].mean(0)) / 4 + math.log(6)]
    weights = torch.tensor(scores, dtype=torch.float64).softmax(0)
    every = torch.cat([values[:64], values[64:128].mean(0, keepdim=True), values[128:].mean(0, keepdim=True)])
    torch.testing.assert_close(tail_reference(q, k, v, table)[0, 1, 3], weights @ every)


def test_where_blocks_are_all_alike_nothing_is_lost():
    q, k, v = tensors(200, 200, dtype=torch.float64)
    k, v = (each[:, :, ::64].repeat_interleave(64, 2)[:, :, :200] for each in (k, v))
    found = tail_reference(q, k, v, neighbour_table(200, 0))
    torch.testing.assert_close(found, attention_reference(q, k, v)[0])


TABLES = {
    "local": local_table(300, 20),
    "by head": by_head(150, 300),
    "many blocks": neighbour_table(64 * 70, 1),
    "nothing is left": full_table(70, 100),
    "nothing is exact": build_table(torch.zeros(1, 1, 2, 3, dtype=torch.bool), 100, 150),
    "window with padding": window_table(Grid(height=20, width=9, text_before=5), 1),
    "by hash": hashed_table(tensors(300, 300)[0], 8),
}


@pytest.mark.parametrize("name", [name for name in TABLES if name != "many blocks"])
def test_two_launches_give_the_reference(name):
    table, fake = TABLES[name], FakeKernels()
    q, k, v = tensors(table.q_tokens, table.k_tokens, kv_heads=1)
    out = tail_attention(CompiledAttention(fake), q, k, v, table)
    assert len(fake.launches) == 2 and out.dtype is torch.bfloat16
    torch.testing.assert_close(out.double(), tail_reference(q, k, v, table), rtol=0.02, atol=0.02)


@pytest.mark.parametrize("name", TABLES)
def test_each_block_is_exact_or_in_the_tail(name):
    table = TABLES[name]
    named = torch.zeros(table.batch, table.heads, table.rows, table.columns, dtype=torch.bool)
    named.view(-1, table.columns)[table.entry_rows(), (table.col & ~(1 << 30)).long()] = True
    left = tail_table(table).seen_positions()
    assert left.shape[2:] == (table.q_positions, table.columns)
    assert torch.equal(left, ~named.repeat_interleave(table.block_q, 2)[:, :, : table.q_positions])


def test_merging_is_attention_over_both():
    q, k, v = tensors(9, 30, dtype=torch.float64)
    seen = torch.rand(9, 30, generator=torch.Generator().manual_seed(0)) < 0.3
    seen[4] = False
    bias = torch.zeros(1, 1, 9, 30, dtype=torch.float64).masked_fill(~seen, -math.inf)
    whole = attention_reference(q, k, v, Masks(bias=bias))[0]
    parts = [
        attention_reference(q, k[:, :, part], v[:, :, part], Masks(bias=bias[..., part]))
        for part in (slice(0, 11), slice(11, 30))
    ]
    torch.testing.assert_close(merged(*parts), whole)
    with pytest.raises(ValueError, match="there are none"):
        merged(parts[0], (whole, None))
