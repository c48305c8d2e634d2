"""The linear operation: a weight of any kind, a bias, branches on the input as it comes."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from quantized_weights import relative, seeded
from torch.nn import functional

from mezzotint.quantization.formats import Int8, LowRank4, Nf4
from mezzotint.quantization.linear import Branch, QuantizedWeight, join_branches, linear

FORMATS = [Int8(dynamic=False, group=64), Nf4(), Int8(dynamic=True, group=64), LowRank4(rank=4, group=64)]


def branch(n, k, rank=2, scale=1.0, seed=5):
    return Branch(down=seeded(rank, k, seed=seed), up=seeded(n, rank, seed=seed + 1), scale=scale)


def merged(weight, branches):
    return weight + sum(each.scale * each.up @ each.down for each in branches)


@given(
    rows=st.integers(1, 64),
    n=st.integers(1, 30),
    k=st.integers(1, 30),
    ranks=st.lists(st.integers(1, 6), max_size=4),
    biased=st.booleans(),
)
def test_branches_are_as_merged_weights(rows, n, k, ranks, biased):
    x, weight, bias = seeded(rows, k), seeded(n, k, seed=1), seeded(n, seed=2) if biased else None
    branches = [branch(n, k, rank, scale=0.3 * rank - 1, seed=rank) for rank in ranks]
    wanted = functional.linear(x.double(), merged(weight, branches).double(), None if bias is None else bias.double())
    torch.testing.assert_close(linear(x, weight, bias, branches).double(), wanted, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("format_", FORMATS, ids=str)
@given(rows=st.integers(1, 64), ranks=st.lists(st.integers(1, 6), max_size=3))
def test_beside_a_quantized_weight_they_add_what_they_add(format_, rows, ranks):
    x, weight, bias = seeded(rows, 128), seeded(24, 128, seed=1), seeded(24, seed=2)
    quantized = QuantizedWeight(format=format_, tensors=format_.quantize(weight), shape=weight.shape)
    branches = [branch(24, 128, rank, scale=0.5, seed=rank) for rank in ranks]
    plain = format_.product(x, quantized.tensors, weight.shape)
    added = sum(0.5 * functional.linear(functional.linear(x, each.down), each.up) for each in branches)
    torch.testing.assert_close(linear(x, quantized, bias, branches), plain + bias + added, rtol=1e-4, atol=1e-3)
    wanted = functional.linear(x, merged(quantized.dequantized(torch.float32), branches), bias)
    assert relative(linear(x, quantized, bias, branches), wanted) < 0.03


def test_without_branches_a_plain_weight_is_torchs_own_operation():
    x, weight, bias = seeded(5, 8), seeded(3, 8), seeded(3)
    assert linear(x, weight, bias).equal(functional.linear(x, weight, bias))


def test_joined_is_one_of_scale_1():
    one, other = branch(6, 8, rank=2, scale=0.5), branch(6, 8, rank=3, scale=-2.0, seed=9)
    both = join_branches([one, other])
    assert both.scale == 1 and both.down.shape == (5, 8) and both.up.shape == (6, 5)
    torch.testing.assert_close(both.up @ both.down, 0.5 * one.up @ one.down - 2 * other.up @ other.down)
    assert join_branches([both]) is both and join_branches([]) is None
    assert join_branches([one]).scale == 1


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_the_result_has_the_format_of_x(dtype):
    x, format_ = seeded(5, 64).to(dtype), Int8(dynamic=True)
    weight = QuantizedWeight(format=format_, tensors=format_.quantize(seeded(8, 64)), shape=torch.Size((8, 64)))
    assert linear(x, weight, seeded(8).to(dtype), [branch(8, 64)]).dtype == dtype
