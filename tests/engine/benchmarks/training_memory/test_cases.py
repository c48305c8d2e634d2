"""The activations of one attention block: cases A, B and C, and stacks of blocks."""

import pytest

from mezzotint.benchmarks.training_memory.cases import cases, depths

GIB = 2**30
# N x d tensors: X, Q, K, V, O, Y; N x 4d: Z, H; scores: heads x N x N; log-sum-exp: heads x N
SMALL, LARGE, SCORES, SUMS = GIB // 8, GIB // 2, 256 * GIB, 2**20


def test_cases_keep_what_the_arithmetic_says():
    found = {(row.case, row.heads): row for row in cases()}
    whole = 6 * SMALL + 2 * LARGE
    assert found["A", 1].kept_bytes == whole + SCORES  # 257.75 GiB
    assert found["A", 8].kept_bytes == whole + 8 * SCORES  # 2049.75 GiB
    assert found["B", 1].kept_bytes == whole + SUMS
    assert found["B", 8].kept_bytes == whole + 8 * SUMS
    assert found["C", 8].kept_bytes == 2 * SMALL
    assert all(row.hooked_bytes == row.kept_bytes for row in found.values())


@pytest.mark.slow
def test_a_stack_keeps_all_its_inputs_or_the_square_root_of_them():
    rows = {(row.blocks, row.checkpointing): row.kept_bytes for row in depths((4, 16))}
    for mode, growth in (("none", 4), ("blocks", 4), ("sqrt", 2)):
        assert rows[16, mode] / rows[4, mode] == pytest.approx(growth, rel=0.01)
