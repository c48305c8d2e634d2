"""What LoHas and LoKrs add, against the whole weight that they stand for."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn
from torch.nn import functional

from mezzotint.quantization.branched import merge, set_branches
from mezzotint.quantization.formats import Int8
from mezzotint.quantization.layers import QuantizedConv2d, QuantizedLinear
from mezzotint.quantization.linear import Branch
from mezzotint.quantization.lycoris import Hadamard, Kronecker

sides = st.integers(1, 5)


def random(*shape, seed=0):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed + sum(shape)))


def loha(n, k, ranks=(2, 2), window=(), scale=0.7):
    ups = random(n, ranks[0]), random(n, ranks[1], seed=1)
    return Hadamard(ups=ups, downs=(random(ranks[0], k, *window), random(ranks[1], k, *window, seed=1)), scale=scale)


def lokr(left, right, scale=0.7):
    return Kronecker(left=random(*left), right=random(*right), scale=scale)


def whole(delta):
    """The weight from first principles, in its shape."""
    if isinstance(delta, Hadamard):
        one, two = (torch.einsum("nr,r...->n...", *each) for each in zip(delta.ups, delta.downs, strict=True))
        return delta.scale * one * two
    window = (1,) * (delta.right.ndim - 2)
    made = delta.scale * torch.kron(delta.left.reshape(*delta.left.shape, *window), delta.right)
    return made if delta.rows is None else made[delta.rows]


def close(one, other):
    torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-4)


@given(left=st.tuples(sides, sides), right=st.tuples(sides, sides), rows=sides)
def test_a_lokr_of_a_linear_layer(left, right, rows):
    delta = lokr(left, right)
    x = random(2, rows, left[1] * right[1])
    close(delta.apply(x), functional.linear(x, whole(delta)))


@given(
    left=st.tuples(sides, sides),
    right=st.tuples(sides, sides),
    stride=st.integers(1, 2),
    padding=st.sampled_from([0, 1, "same"]),
)
def test_a_lokr_of_a_convolution(left, right, stride, padding):
    delta, n, k = lokr(left, (*right, 3, 3)), left[0] * right[0], left[1] * right[1]
    geometry = nn.Conv2d(k, n, 3, 1 if padding == "same" else stride, padding)
    x = random(2, k, 6, 5)
    close(delta.convolved(x, geometry), functional.conv2d(x, whole(delta), None, geometry.stride, geometry.padding))


@given(n=sides, k=sides, ranks=st.tuples(sides, sides), window=st.sampled_from([(), (3, 3)]))
def test_a_loha_is_one_product(n, k, ranks, window):
    delta = loha(n, k, ranks, window)
    branch = delta.as_branch()
    close(branch.scale * torch.einsum("nr,r...->n...", branch.up.flatten(1), branch.down), whole(delta))
    assert len(branch.down) <= min(n, k * 3 ** len(window), ranks[0] * ranks[1])


DELTAS = {
    "LoRA": Branch(down=random(2, 6), up=random(8, 2), scale=-0.5),
    "LoHa": loha(8, 6),
    "LoKr": lokr((2, 3), (4, 2)),
}


@pytest.mark.parametrize("delta", DELTAS.values(), ids=DELTAS)
def test_merged_a_few_rows_at_a_time(delta, monkeypatch):
    monkeypatch.setattr("mezzotint.quantization.branched._MERGE_CHUNK", 18)  # three rows of six
    total, some = torch.zeros(8, 6), torch.zeros(3, 6)
    merge(total, torch.zeros(8, 6), [delta])
    merge(some, torch.zeros(3, 6), [delta.select_rows(lambda rows: rows[4:7])])
    close(some, total[4:7])
    if not isinstance(delta, Branch):
        close(total, whole(delta))


@pytest.mark.parametrize("delta", DELTAS.values(), ids=DELTAS)
@torch.inference_mode()
def test_all_kinds_beside_a_quantized_weight(delta):
    network = nn.Sequential(QuantizedLinear(Int8(group=0, dynamic=False), (8, 6), random(8)))
    network[0].set_tensors(Int8(group=0, dynamic=False).quantize(random(8, 6)))
    x, total = random(5, 6), torch.zeros(8, 6)
    plain = network(x)
    merge(total, total, [*DELTAS.values(), delta])
    set_branches(network, {"0": [*DELTAS.values(), delta]})
    close(network(x), plain + functional.linear(x, total))
    set_branches(network, {})
    assert torch.equal(network(x), plain)


@torch.inference_mode()
def test_all_kinds_beside_a_quantized_convolution():
    plain, format_ = nn.Conv2d(6, 8, 3, stride=2, padding=1), Int8(group=0, dynamic=False)
    network = nn.Sequential(QuantizedConv2d(format_, plain))
    network[0].set_tensors(format_.quantize(plain.weight))
    deltas = [loha(8, 6, window=(3, 3)), lokr((2, 3), (4, 2, 3, 3))]
    x, before = random(2, 6, 7, 7), network(random(2, 6, 7, 7))
    set_branches(network, {"0": deltas})
    close(network(x), before + functional.conv2d(x, sum(map(whole, deltas)), None, 2, 1))
