"""Tables in the blocks of the kernels, and transposed: the same is seen."""

import gc
import weakref

import pytest
import torch
from block_tables import TABLES, random_table

from mezzotint.attention.blocks.grids import Grid, shifted_table
from mezzotint.attention.blocks.kernel_tables import in_kernel_blocks, transposed, transposed_bits
from mezzotint.attention.blocks.patterns import bigbird_table, dilated_table, full_table, local_table
from mezzotint.attention.blocks.table import PARTIAL

RANDOM = {
    "by batch and head": random_table(300, 200, batch=2, heads=3),
    "whole blocks": random_table(300, 200, heads=2, whole=True),
    "rows of 128": random_table(300, 200, heads=2, block_q=128),
    "half a row of 128": random_table(330, 100, block_q=128),
    "nothing": random_table(100, 200, density=0.0),
    "one query": random_table(1, 200),
}


@pytest.mark.parametrize("name", [*RANDOM, *TABLES])
def test_keys_are_seen_by_the_queries_that_see_them(name):
    table = RANDOM[name] if name in RANDOM else TABLES[name][1]()
    turned = transposed(table)
    assert (turned.q_tokens, turned.k_tokens) == (table.k_positions, table.q_positions)
    assert turned.row_ptr.dtype == turned.col.dtype == turned.tile.dtype == torch.int32
    number = turned.entry_rows() * 2**20 + (turned.col & ~PARTIAL)
    assert (number.diff() > 0).all()  # ascending within each row
    inside = (turned.col & ~PARTIAL) < turned.columns
    shown = torch.zeros(table.batch * table.heads * turned.rows, turned.columns, 64, 64, dtype=torch.bool)
    shown[turned.entry_rows()[inside], (turned.col & ~PARTIAL)[inside].long()] = turned.tiles(inside.nonzero()[:, 0])
    shown = shown.view(table.batch, table.heads, turned.rows, turned.columns, 64, 64)
    mask = shown.transpose(3, 4).flatten(4, 5).flatten(2, 3)[:, :, : table.k_positions, : table.q_positions]
    assert torch.equal(mask, table.seen_positions().mT)


def test_bits_of_a_matrix_are_transposed():
    words = torch.randint(-(2**63), 2**63 - 1, (5, 64), generator=torch.Generator().manual_seed(0))
    shown, turned = (each[..., None] >> torch.arange(64) & 1 for each in (words, transposed_bits(words)))
    assert torch.equal(turned, shown.mT)
    assert transposed_bits(words[:0]).shape == (0, 64)


SMALL = {
    "local": local_table(100, 9, block=16),
    "bigbird": bigbird_table(200, 1, block=8),
    "dilated": dilated_table(150, 4, 2, block=8),
    "in an order": shifted_table(Grid(height=10, width=13, text_after=7), 5, 2, block=16),
    "whole": full_table(128, 128, block=16),
}


@pytest.mark.parametrize("name", SMALL)
def test_small_blocks_are_joined(name):
    table = SMALL[name]
    joined = in_kernel_blocks(table)
    assert (joined.block_q, joined.block_k) == (64, 64)
    assert torch.equal(joined.seen(), table.seen())
    assert bool(len(joined.bits)) == (name != "whole")


def test_blocks_of_the_kernels_and_those_that_do_not_fit_stay():
    for table in (RANDOM["rows of 128"], local_table(100, 5), local_table(100, 5, block=48)):
        assert in_kernel_blocks(table) is table


def test_it_is_made_once_while_the_table_lives():
    table = local_table(100, 9, block=16)
    joined = in_kernel_blocks(table)
    assert in_kernel_blocks(table) is joined and transposed(joined) is transposed(joined)
    left = weakref.ref(joined)
    del table, joined
    gc.collect()
    assert left() is None
