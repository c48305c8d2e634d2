"""Fixed patterns are their definitions, token by token."""

import pytest
import torch

from mezzotint.attention.blocks.patterns import (
    bigbird_table,
    dilated_table,
    full_table,
    global_local_table,
    local_table,
    longformer_table,
    neighbour_table,
    strided_table,
)
from mezzotint.attention.blocks.table import PARTIAL


def by_definition(tokens, sees):
    """The mask of a rule for two numbers, in plain Python."""
    return torch.tensor([[sees(i, j) for j in range(tokens)] for i in range(tokens)])


CASES = {
    "local": (lambda n, b: local_table(n, 5, block=b), lambda i, j: abs(i - j) <= 5),
    "local, wide": (lambda n, b: local_table(n, 40, block=b), lambda i, j: -40 <= i - j <= 40),
    "dilated": (lambda n, b: dilated_table(n, 3, 4, block=b), lambda i, j: abs(i - j) in (0, 4, 8, 12)),
    "strided": (lambda n, b: strided_table(n, 7, block=b), lambda i, j: i % 7 == j % 7),
    "strided, more than blocks": (
        lambda n, b: strided_table(n, 30, block=b),
        lambda i, j: abs(i - j) in (0, 30, 60, 90),
    ),
    "longformer": (
        lambda n, b: longformer_table(n, 6, 3, block=b),
        lambda i, j: i in (0, 1, 2) or j in (0, 1, 2) or abs(i - j) < 7,
    ),
    "global-local": (
        lambda n, b: global_local_table(n, 4, 10, block=b),
        lambda i, j: str(i)[-1] == "0" or str(j)[-1] == "0" or abs(i - j) < 5,
    ),
}


@pytest.mark.parametrize("tokens", [96, 100, 7])
@pytest.mark.parametrize("block", [16, 64])
@pytest.mark.parametrize("name", CASES)
def test_pattern_is_its_definition(name, block, tokens):
    make, sees = CASES[name]
    table = make(tokens, block)
    assert torch.equal(table.seen()[0, 0], by_definition(tokens, sees))


def test_full_table_has_no_partial_blocks():
    table = full_table(100, 70, block=16)
    assert table.seen().shape == (1, 1, 100, 70) and table.seen().all()
    assert table.col.tolist() == list(range(5)) * 7 and table.density == 1
    assert table.row_ptr.tolist() == list(range(0, 36, 5)) and len(table.bits) == 0


def test_a_window_leaves_most_blocks_out():
    table = local_table(1024, 64)
    assert table.density < 0.2
    middle = table.col[table.row_ptr[5] : table.row_ptr[6]].tolist()
    assert middle == [4 | PARTIAL, 5, 6 | PARTIAL]
    assert dilated_table(1024, 16, 8).density < 0.2
    assert strided_table(1024, 16).density == 1 / 16


@pytest.mark.parametrize("tokens", [96, 90])
def test_neighbours_are_whole_blocks(tokens):
    seen = neighbour_table(tokens, 1, block=16).seen()[0, 0]
    assert torch.equal(seen, by_definition(tokens, lambda i, j: i // 16 - j // 16 in (-1, 0, 1)))


def test_bigbird_is_windows_global_blocks_and_random_ones():
    table = bigbird_table(640, 1, global_blocks=2, random_blocks=3, seed=5, block=16)
    seen = table.seen()[0, 0]
    known = by_definition(640, lambda i, j: min(i, j) < 32 or abs(i // 16 - j // 16) <= 1)
    assert (seen | ~known).all()
    random = (seen & ~known)[::16, ::16]
    assert torch.equal((seen & ~known), random.repeat_interleave(16, 0).repeat_interleave(16, 1))
    assert random.sum(1).tolist() == [0, 0] + [3] * 38
    again, other = (bigbird_table(640, 1, global_blocks=2, seed=seed, block=16).seen()[0, 0] for seed in (5, 6))
    assert torch.equal(seen, again) and not torch.equal(seen, other)


def test_more_random_blocks_than_there_are():
    assert bigbird_table(50, 0, global_blocks=0, random_blocks=9, block=16).seen().all()
