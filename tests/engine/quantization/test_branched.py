"""Branches merged into weights or beside quantized ones: what they add, and that nothing is left of them."""

from dataclasses import replace

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn
from torch.nn import functional

from mezzotint.quantization import branched
from mezzotint.quantization.branched import (
    MergedConv2d,
    MergedLinear,
    branchable_layers,
    merge,
    merged_branches,
    set_branches,
)
from mezzotint.quantization.formats import Int8, LowRank4, Nf4
from mezzotint.quantization.layers import QuantizedConv2d, QuantizedLinear
from mezzotint.quantization.linear import Branch, join_branches

sides = st.integers(1, 12)


def random(*shape, seed=0):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed + sum(shape)))


def linear_branch(n, k, rank=2, scale=0.7, seed=1):
    return Branch(down=random(rank, k, seed=seed), up=random(n, rank, seed=seed), scale=scale)


def conv_branch(layer, rank=2, scale=0.7, seed=1):
    n, *rest = layer.weight.shape if not isinstance(layer, QuantizedConv2d) else layer.shape
    return Branch(down=random(rank, *rest, seed=seed), up=random(n, rank, 1, 1, seed=seed), scale=scale)


def difference(*branches):
    return sum(b.scale * torch.einsum("nr,r...->n...", b.up.flatten(1), b.down) for b in branches)


@given(n=sides, k=sides, ranks=st.lists(st.integers(1, 5), max_size=3), rows=sides, bias=st.booleans())
def test_a_linear_layer_is_as_with_merged_weights(n, k, ranks, rows, bias):
    network = nn.Sequential(nn.Linear(k, n, bias=bias))
    branches = [linear_branch(n, k, rank, scale=-0.3 * rank, seed=rank) for rank in ranks]
    x, merged = random(rows, k), network[0].weight + difference(*branches)
    set_branches(network, {"0": branches})
    torch.testing.assert_close(network(x), functional.linear(x, merged, network[0].bias), rtol=1e-4, atol=1e-4)


@given(
    channels=st.tuples(st.integers(1, 4), st.integers(1, 4)),
    window=st.sampled_from([1, 3]),
    stride=st.integers(1, 2),
    padding=st.sampled_from([0, 1, "same"]),
    dilation=st.integers(1, 2),
)
def test_a_convolution_is_as_with_merged_weights(channels, window, stride, padding, dilation):
    stride = 1 if padding == "same" else stride
    layer = nn.Conv2d(*channels, window, stride=stride, padding=padding, dilation=dilation)
    network, branches = nn.Sequential(layer), [conv_branch(layer), conv_branch(layer, rank=3, scale=-1.0, seed=9)]
    set_branches(network, {"0": branches})
    assert isinstance(network[0], MergedConv2d)
    x = random(2, channels[0], 7, 9)
    merged = functional.conv2d(x, layer.weight + difference(*branches), layer.bias, stride, padding, dilation)
    torch.testing.assert_close(network(x), merged, rtol=1e-4, atol=1e-4)


def test_nothing_is_left():
    network = nn.Sequential(nn.Linear(8, 6), nn.Conv2d(3, 4, 3), nn.GELU(), nn.Linear(6, 6))
    before, layers = {name: each.clone() for name, each in network.state_dict().items()}, list(network)
    x = random(5, 8)
    plain = layers[0](x)
    set_branches(network, {"0": [linear_branch(6, 8)], "1": [conv_branch(layers[1])]})
    assert [type(layer) for layer in network] == [MergedLinear, MergedConv2d, nn.GELU, nn.Linear]
    assert list(network.state_dict()) == list(before)
    assert network[0].bias is layers[0].bias and not torch.equal(network[0](x), plain)
    set_branches(network, {"1": [conv_branch(layers[1])]})
    assert network[0] is layers[0] and isinstance(network[1], MergedConv2d)
    set_branches(network, {})
    assert all(now is then for now, then in zip(network, layers, strict=True))
    assert all(torch.equal(each, before[name]) for name, each in network.state_dict().items())
    assert torch.equal(network[0](x), plain)


def test_only_what_changes_is_merged_anew():
    network = nn.Sequential(nn.Linear(8, 6), nn.Linear(6, 6))
    first, second = linear_branch(6, 8), linear_branch(6, 6)
    set_branches(network, {"0": [first], "1": [second]})
    merged = [layer.weight for layer in network]
    set_branches(network, {"0": [replace(first)], "1": [replace(second, scale=0.1)]})
    assert network[0].weight is merged[0] and network[1].weight is not merged[1]


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_a_sum_in_16_bits_is_rounded_once(dtype, monkeypatch):
    monkeypatch.setattr(branched, "_MERGE_CHUNK", 40)  # five rows at a time
    layer = nn.Linear(8, 48).to(dtype)
    branches = [linear_branch(48, 8), linear_branch(48, 8, 5, scale=-0.2, seed=4)]
    network = nn.Sequential(layer)
    set_branches(network, {"0": branches})
    exact = layer.weight.float()
    for each in branches:
        exact = torch.addmm(exact, each.up, each.down, alpha=each.scale)
    assert torch.equal(network[0].weight, exact.to(dtype))


def test_weights_that_compute_elsewhere_are_merged_there():
    network = nn.Sequential(nn.Linear(8, 6), nn.Linear(6, 6))
    weights, branch = [layer.weight for layer in network], linear_branch(6, 8)
    set_branches(network, {"0": [branch]}, merge_now=False)
    assert [layer.weight is weight for layer, weight in zip(network, weights, strict=True)] == [True, True]
    assert merged_branches(network) == {"0.weight": (branch,)}
    target = torch.empty(6, 8)
    merge(target, weights[0], (branch,))
    torch.testing.assert_close(target, weights[0] + difference(branch))


def test_several_beside_a_quantized_weight_are_joined_once_and_not_when_called(monkeypatch):
    layer = QuantizedLinear(Int8(dynamic=False), (6, 8), None)
    layer.set_tensors(layer.format.quantize(random(6, 8)))
    network = nn.Sequential(layer)
    set_branches(network, {"0": [linear_branch(6, 8, rank) for rank in (1, 2, 3)]})
    (branch,) = network[0].branches
    assert branch.down.shape == (6, 8) and branch.up.shape == (6, 6) and join_branches([branch]) is branch

    def no_longer(*_args, **_kwargs):
        raise AssertionError("joined again")

    monkeypatch.setattr(torch, "cat", no_longer)
    network(random(5, 8))


def test_layers_of_other_kinds_take_none():
    network = nn.Sequential(
        nn.Conv2d(4, 4, 3, groups=2), nn.Conv2d(4, 4, 3, padding=1, padding_mode="reflect"), nn.Embedding(3, 4)
    )
    assert list(branchable_layers(network)) == []


FORMATS = [
    (Int8(dynamic=False), 1e-5),
    (Int8(dynamic=False, group=16), 1e-5),
    (Int8(dynamic=True), 0.02),
    (Int8(dynamic=True, group=16), 0.02),
    (Nf4(), 1e-5),
    (LowRank4(rank=4, group=16), 0.02),
]


@pytest.mark.parametrize(("format_", "tolerance"), FORMATS, ids=[str(format_) for format_, _ in FORMATS])
def test_a_quantized_layer_is_as_its_own_weight_with_the_branches_merged(format_, tolerance):
    weight, bias, x = random(48, 64), random(48), random(20, 64)
    layer = QuantizedLinear(format_, (48, 64), bias)
    layer.set_tensors(format_.quantize(weight))
    network, branches = nn.Sequential(layer), [linear_branch(48, 64), linear_branch(48, 64, 5, scale=-0.2, seed=4)]
    plain = network(x)
    set_branches(network, {"0": branches})
    got = network(x)
    merged = layer.weight.dequantized(torch.float32) + difference(*branches)
    wanted = functional.linear(x, merged, bias)
    assert (got - wanted).norm() <= tolerance * wanted.norm()
    torch.testing.assert_close(got - plain, functional.linear(x, difference(*branches)), rtol=1e-3, atol=1e-3)
    set_branches(network, {})
    assert network[0] is layer and torch.equal(network(x), plain)


def test_a_quantized_convolution_too():
    convolution = nn.Conv2d(6, 8, 3, stride=2, padding=1)
    layer = QuantizedConv2d(Int8(dynamic=False), convolution)
    layer.set_tensors(layer.format.quantize(convolution.weight.detach()))
    network, x = nn.Sequential(layer), random(1, 6, 9, 9)
    plain, branch = network(x), conv_branch(layer)
    set_branches(network, {"0": [branch]})
    merged = layer.weight.dequantized(torch.float32) + difference(branch)
    torch.testing.assert_close(
        network(x), functional.conv2d(x, merged, layer.bias, stride=2, padding=1), rtol=1e-4, atol=1e-4
    )
    set_branches(network, {})
    assert torch.equal(network(x), plain)


def test_what_is_trained_beside_a_quantized_layer_is_used_as_it_is_now():
    network = nn.Sequential(QuantizedLinear(Nf4(), (8, 16), None))
    network[0].set_tensors(Nf4().quantize(random(8, 16)))
    branches = [linear_branch(8, 16, seed=seed).map_factors(torch.Tensor.requires_grad_) for seed in (1, 2)]
    set_branches(network, {"0": branches})
    x = random(3, 16)
    for _ in range(2):
        network(x).sum().backward()
        with torch.no_grad():
            for each in branches:
                each.up.sub_(each.up.grad)
    wanted = functional.linear(x, network[0].weight.dequantized(torch.float32) + difference(*branches))
    torch.testing.assert_close(network(x), wanted)
