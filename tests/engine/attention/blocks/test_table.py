"""The layout of a table, entry by entry."""

import torch

from mezzotint.attention.blocks.building import build_table
from mezzotint.attention.blocks.table import PARTIAL, in_order, restored


def test_layout_entry_by_entry():
    """Two heads; blocks of 4 queries and 8 keys; 6 queries, 12 keys: both ragged."""
    candidates = torch.tensor([[[[1, 1], [0, 0]], [[0, 1], [1, 1]]]]).bool()
    table = build_table(candidates, 6, 12, lambda i, j: (j < 8) | (j == 8 + i), block_q=4, block_k=8)
    assert table.row_ptr.tolist() == [0, 2, 2, 3, 4]  # the last row's second block shows nothing to queries 4 and 5
    assert table.col.tolist() == [0, 1 | PARTIAL, 1 | PARTIAL, 0]
    assert table.tile.tolist() == [0, 0, 1, 0]
    assert table.bits.tolist() == [[1, 2, 4, 8], [1, 2, 4, 8]]
    assert (table.rows, table.columns, table.stride_head, table.stride_batch) == (2, 2, 2, 0)
    assert table.density == 0.5
    assert {each.dtype for each in (table.row_ptr, table.col, table.tile)} == {torch.int32}


def test_the_last_of_64_keys_is_the_sign():
    table = build_table(torch.ones(1, 1, 1, 1).bool(), 64, 64, lambda i, j: (j == 63) & (i >= 0))
    assert table.bits.shape == (1, 64) and (table.bits == -(2**63)).all()
    assert table.seen()[0, 0, :, 63].all() and table.seen().sum() == 64


def test_missing_queries_and_keys_leave_a_block_whole_and_padding_does_not():
    table = build_table(torch.ones(1, 1, 1, 1).bool(), 5, 6, block_q=16, block_k=16)
    assert table.col.tolist() == [0]
    order = torch.tensor([4, 3, -1, 2, 1, 0])
    padded = build_table(torch.ones(1, 1, 1, 1).bool(), 5, 5, block_q=16, block_k=16, q_order=order, k_order=order)
    assert padded.col.tolist() == [PARTIAL] and padded.bits[0, 0] == 0b111011
    assert padded.seen().all() and padded.seen().shape == (1, 1, 5, 5)


def test_tables_by_batch_and_head_have_strides():
    table = build_table(torch.ones(2, 3, 4, 1).bool(), 64, 16, block_q=16, block_k=16)
    assert (table.stride_batch, table.stride_head, len(table.row_ptr)) == (12, 4, 25)
    moved = table.to("cpu")
    assert torch.equal(moved.col, table.col) and moved.block_q == 16


def test_restored_undoes_an_order():
    x = torch.randn(2, 3, 5, 4)
    order = torch.stack([torch.randperm(5) for _ in range(3)])[None]
    order = torch.cat([order[..., :2], torch.full((1, 3, 2), -1), order[..., 2:]], dim=-1)
    assert torch.equal(restored(in_order(x, order), order, 5), x)
    assert in_order(x, None) is x
    assert in_order(x, order)[:, 0, 4].equal(x[:, 0, order[0, 0, 4]])
