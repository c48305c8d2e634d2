"""The branch takes what 4 bits lose: all of a thin weight, the loudest part of any other."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from quantized_weights import relative, seeded

from mezzotint.quantization.formats import LowRank4
from mezzotint.quantization.lowrank import split_low_rank


def to_nothing(rest):
    return torch.zeros_like(rest)


@given(n=st.integers(1, 30), k=st.integers(1, 40), rank=st.integers(1, 12), seed=st.integers(0, 99))
def test_factors_have_the_rank_and_lose_no_more_than_the_best_of_that_rank(n, k, rank, seed):
    weight = seeded(n, k, seed=seed)
    down, up = split_low_rank(weight, rank, to_nothing)
    assert down.shape == (rank, k) and up.shape == (n, rank)
    best = torch.linalg.svdvals(weight)[rank:].norm()
    assert (weight - up @ down).norm() <= 1.02 * best + 1e-4


def test_a_thin_weight_is_all_in_the_branch():
    weight = seeded(48, 4) @ seeded(4, 128)
    down, up = split_low_rank(weight, 4, to_nothing)
    assert relative(up @ down, weight) < 1e-5


@pytest.mark.parametrize("group", [0, 64])
def test_with_a_branch_less_is_lost_and_with_a_wider_one_less_still(group):
    weight = seeded(96, 256) + 3 * seeded(96, 8) @ seeded(8, 256)
    lost = []
    for rank in (1, 8, 32):
        format_ = LowRank4(rank=rank, group=group)
        lost.append(relative(format_.dequantize(format_.quantize(weight), weight.shape, torch.float32), weight))
    assert lost[0] > 2 * lost[1] > 2 * lost[2]


def test_what_is_heard_loudest_is_kept_best():
    weight, balance = seeded(64, 256), torch.ones(256)
    balance[:8] = 50
    format_ = LowRank4(rank=8)
    plain, balanced = (
        format_.dequantize(format_.quantize(weight, given), weight.shape, torch.float32) for given in (None, balance)
    )
    assert relative(balanced * balance, weight * balance) < 0.5 * relative(plain * balance, weight * balance)


@pytest.mark.parametrize("balance", [0.0, 1e-30, 1e30])
def test_factors_fit_into_sixteen_bits_whatever_the_balance(balance):
    weight = 1e6 * seeded(32, 128)
    down, up = split_low_rank(weight, 8, to_nothing, torch.full((128,), balance))
    assert down.half().isfinite().all() and up.half().isfinite().all()
    torch.testing.assert_close(down.abs().amax(dim=1), up.abs().amax(dim=0), rtol=1e-3, atol=0)


def test_the_same_weight_gives_the_same_factors_and_nobody_elses_numbers_change():
    weight = seeded(40, 128)
    torch.manual_seed(3)
    expected = torch.rand(4)
    torch.manual_seed(3)
    first = split_low_rank(weight, 4, to_nothing)
    assert torch.rand(4).equal(expected)
    second = split_low_rank(weight, 4, to_nothing)
    assert all(a.equal(b) for a, b in zip(first, second, strict=True))


def test_a_weight_of_zeros_has_a_branch_of_zeros():
    down, up = split_low_rank(torch.zeros(5, 64), 8, to_nothing)
    assert (up @ down).eq(0).all() and down.isfinite().all() and up.isfinite().all()
