"""Block tables on the emulator: only their blocks are computed, and these as the reference says."""

from dataclasses import replace

import pytest
import torch
from block_tables import TABLES
from emulated_instances import EmulatedAttention
from emulated_kernels import Problem
from linear_instances import Card

from mezzotint.attention.blocks.chosen import hashed_table
from mezzotint.attention.blocks.grids import Grid, window_table
from mezzotint.attention.blocks.kernels import kernel_attention
from mezzotint.attention.blocks.patterns import neighbour_table
from mezzotint.attention.blocks.reference import block_reference
from mezzotint.attention.blocks.tail import tail_attention, tail_reference
from mezzotint.attention.blocks.tiles import best_tiles, tile_table, tiles_of
from mezzotint.attention.compiled import CompiledAttention

pytestmark = pytest.mark.requires_command("g++", "sudo apt-get install g++")

BASE = Problem(head_dim=64, nq=150, nk=200, table="random")
PROBLEMS = {
    "shared": BASE,
    "whole blocks": replace(BASE, table="whole"),
    "by heads": replace(BASE, heads=4, kv_heads=2, table="random heads"),
    "by batch": replace(BASE, batch=2, table="random batch"),
    "by batch and heads": replace(BASE, batch=2, table="random both", tokens_first=True),
    "rows of 128": replace(BASE, nq=300, table="random heads", table_queries=128),
    "more queries than keys": replace(BASE, nq=200, nk=70),
    "one query, one key": replace(BASE, nq=1, nk=1),
    "no keys": replace(BASE, nk=0),
    "nothing in any row": replace(BASE, table="empty"),
    "lengths": replace(BASE, batch=3, key_lengths=(0, 65, 180)),
    "lengths beyond the keys and below 0": replace(BASE, batch=2, key_lengths=(500, -3)),
    "causal": replace(BASE, causal=True),
    "key mask": replace(BASE, key_mask="random", batch=2),
    "bias": replace(BASE, bias="full", bias_float=False),
    "outliers and a bias": replace(BASE, outliers=True, bias="lowest"),
    "early copies": replace(BASE, late_copies=False, stubborn=True),
    "one warp far ahead": replace(BASE, nk=400, stubborn=True),
    "float16": replace(BASE, dtype=torch.float16),
    "Turing": replace(BASE, dtype=torch.float16, turing=True),
    "head size with a rest": replace(BASE, head_dim=72),
    "half blocks of keys": replace(BASE, head_dim=256, heads=1, kv_heads=1, nk=150),
    "quarter blocks of keys": replace(
        BASE, head_dim=512, dtype=torch.float16, heads=1, kv_heads=1, nq=70, nk=150, key_mask="random"
    ),
    "int8": replace(BASE, int8=True, uneven=True),
    "int8, by heads": replace(BASE, int8=True, table="random heads", heads=4, kv_heads=2, key_lengths=(130,)),
    "int8, whole blocks, outliers": replace(BASE, int8=True, table="whole both", batch=2, outliers=True, causal=True),
    "int8, nothing": replace(BASE, int8=True, table="empty"),
}
ALL_SIZES = [
    pytest.param(
        replace(BASE, head_dim=head_dim, dtype=dtype, heads=1, kv_heads=1, int8=int8), id=f"{head_dim} {dtype} {int8}"
    )
    for head_dim in (32, 40, 64, 72, 80, 88, 96, 112, 128, 160, 256, 384, 512)
    for dtype in (torch.float16, torch.bfloat16)
    for int8 in ((False, True) if head_dim in (64, 72, 80, 96, 112, 128) else (False,))
]


def check(emulator, problem):
    numbers = emulator.numbers(problem)
    assert numbers
    for number in numbers:
        verdict = emulator.run(problem, number)
        assert verdict.right, verdict


@pytest.mark.parametrize("problem", PROBLEMS.values(), ids=PROBLEMS.keys())
def test_a_table_is_a_mask(emulator, problem):
    check(emulator, problem)


@pytest.mark.parametrize("name", TABLES)
def test_tables_of_patterns(emulator, name):
    tokens = TABLES[name][0]
    check(emulator, Problem(head_dim=64, nq=tokens, nk=tokens, table=name))


@pytest.mark.slow
@pytest.mark.parametrize("problem", ALL_SIZES)
def test_every_head_size(emulator, problem):
    check(emulator, problem)


def of_shape(emulator, number, problem):
    """The instances with the tiles of this one for another problem."""
    shape = emulator.instances[number]
    found = [emulator.instances[each] for each in emulator.numbers(problem)]
    same = ("tile_m", "tile_n", "threads", "kind")
    return [
        emulator.instances.index(each) for each in found if all(getattr(each, a) == getattr(shape, a) for a in same)
    ]


@pytest.mark.parametrize("int8", [False, True])
@pytest.mark.parametrize(("nq", "nk"), [(128, 192), (150, 200), (20, 300)])
def test_a_table_of_all_blocks_changes_no_bit(emulator, nq, nk, int8):
    """Neither of the kernel without masks and of the same tiles, nor of the one with masks."""
    dense = Problem(head_dim=64, nq=nq, nk=nk, int8=int8, outliers=True)
    table, masked = replace(dense, table="all"), replace(dense, key_mask="ones")
    (number,) = emulator.numbers(table)
    got = emulator.compute(table, number).tensors
    for other in (dense, masked):
        (same,) = of_shape(emulator, number, other)
        wanted = emulator.compute(other, same).tensors
        assert torch.equal(got.out, wanted.out) and torch.equal(got.lse, wanted.lse)


@pytest.mark.parametrize(
    "changes",
    [{}, {"nq": 300, "table_queries": 128, "heads": 4, "table": "random heads"}, {"int8": True, "batch": 2}],
    ids=str,
)
def test_the_order_of_rows_changes_no_bit(emulator, changes):
    ordered = replace(BASE, **{"nq": 150, "table": "random both"} | changes)
    plain = replace(ordered, table_in_order=True)
    for number in emulator.numbers(ordered):
        first, second = (emulator.compute(each, number).tensors for each in (ordered, plain))
        assert first.table.table.row_order is not None
        assert torch.equal(first.out, second.out) and torch.equal(first.lse, second.lse)


def test_blocks_that_no_row_names_are_not_computed(emulator):
    dense = Problem(head_dim=64, nq=300, nk=300, key_mask="ones")
    table = replace(dense, key_mask=None, table="neighbours")
    (number,) = emulator.numbers(table)
    loads = [emulator.compute(each, number).report.products for each in (dense, table)]
    assert loads[1] * 25 == loads[0] * (2 + 3 + 3 + 3 + 2)


def tiles_of_image(q):
    tiles = tiles_of(Grid(height=14, width=10, text_before=20), q.device)
    return tile_table(tiles, best_tiles(q, q, tiles, 2))


PATTERNS = {
    "tiles of an image": tiles_of_image,
    "windows of text and image": lambda q: window_table(Grid(height=14, width=10, text_before=20), 1),
    "by hash": lambda q: hashed_table(q, 8),
    "neighbours": lambda q: neighbour_table(q.shape[2], 0),
}


@pytest.mark.parametrize("name", PATTERNS)
def test_from_tensors_to_tensors(emulated, name):
    """With tokens put in order before and back after, and means of the blocks that are left out."""
    kernels, generator = CompiledAttention(EmulatedAttention(emulated)), torch.Generator().manual_seed(0)
    q, k, v = (torch.randn(1, 2, 160, 64, generator=generator).bfloat16() for _ in range(3))
    table = PATTERNS[name](q)
    out, lse = kernel_attention(kernels, q, k, v, table, with_lse=True)
    exact, sums = block_reference(q, k, v, table)
    torch.testing.assert_close(out.double(), exact, rtol=0.02, atol=0.02)
    torch.testing.assert_close(lse.double(), sums, rtol=1e-3, atol=2e-3)
    whole = tail_attention(kernels, q, k, v, table)
    torch.testing.assert_close(whole.double(), tail_reference(q, k, v, table), rtol=0.02, atol=0.02)


def test_what_is_chosen(emulator):
    card = Card(architecture=86, multiprocessors=4, shared_bytes=99 * 1024)
    assert emulator.plan(BASE, card).text == "forward bfloat16 d64 64x64 masked"
    assert emulator.plan(replace(BASE, nk=20), card).text == "forward bfloat16 d64 64x64 masked"
    assert emulator.plan(replace(BASE, int8=True), card).text == "int8 bfloat16 d64 64x64 masked"
    assert emulator.plan(replace(BASE, head_dim=512, table_queries=128), card).text.endswith("d512 64x16 masked")
