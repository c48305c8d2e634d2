"""Branches in copies of weights: the sum rounded once, whatever the shape; all of it or nothing."""

import pytest
import torch
from torch import nn

from mezzotint.quantization.branched import BranchedLinear, has_merged, set_branches
from mezzotint.quantization.linear import Branch, joined
from mezzotint.quantization.merging import Resident, merge


def branch_of(shape, rank=3, dtype=torch.float32, scale=1.0):
    down = torch.randn(rank, *shape[1:], dtype=dtype)
    up = torch.randn(shape[0], rank, *(1,) * (len(shape) - 2), dtype=dtype)
    return joined([Branch(down=down, up=up, scale=scale)])


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("shape", [(5, 7), (2500, 3), (6, 4, 3, 3), (1030, 4, 1, 1)])
def test_the_sum_is_rounded_once(shape, dtype):
    weight, branch = torch.randn(shape, dtype=dtype), branch_of(shape, dtype=dtype, scale=0.5)
    added = branch.up.flatten(1).double() @ branch.down.flatten(1).double()
    exact = weight.double() + added.reshape(shape)
    merge(weight, branch)
    spacing = torch.finfo(dtype).eps * exact.abs().clamp(min=1)
    assert ((weight.double() - exact).abs() <= 0.51 * spacing + 1e-6).all()


def test_without_memory_nothing_is_added(monkeypatch):
    weight, branch = torch.randn(3000, 8), branch_of((3000, 8))
    before = weight.clone()

    def none_left(*_, **__):
        raise torch.OutOfMemoryError("CUDA out of memory")

    monkeypatch.setattr(torch, "empty", none_left)
    with pytest.raises(torch.OutOfMemoryError):
        merge(weight, branch)
    assert torch.equal(weight, before)


@pytest.fixture
def network():
    return nn.Sequential(nn.Linear(8, 6), nn.Conv2d(3, 4, 3, padding=1)).requires_grad_(False)


def bound(layer, kind):
    """The layer's weight as a copy of that kind."""
    at_rest = layer.weight
    layer.weight = kind(at_rest.detach().clone(), requires_grad=False)
    return at_rest


@pytest.mark.parametrize("name", ["0", "1"])
@torch.no_grad()
def test_a_copy_that_stays_has_them_once_and_its_source_never(network, name):
    layer = network.get_submodule(name)
    x = torch.randn(2, 8) if name == "0" else torch.randn(1, 3, 5, 5)
    branch = branch_of(tuple(layer.weight.shape))
    at_rest = bound(layer, Resident)
    untouched = at_rest.clone()
    set_branches(network, {name: [branch]})
    beside = network.get_submodule(name)(x)
    assert not has_merged(network)
    set_branches(network, {name: [branch]}, merges=True)
    layer = network.get_submodule(name)
    for _ in range(3):
        torch.testing.assert_close(layer(x), beside, rtol=1e-5, atol=1e-5)
    assert has_merged(network) and set(dict(layer.named_parameters())) == {"weight", "bias"}
    layer._parameters["weight"] = at_rest  # it leaves
    assert not has_merged(network)
    torch.testing.assert_close(layer(x), beside)
    assert torch.equal(at_rest, untouched)


@torch.no_grad()
def test_what_others_are_written_over_has_them_beside(network):
    branch = branch_of((6, 8))
    bound(network[0], nn.Parameter)
    set_branches(network, {"0": [branch]}, merges=True)
    assert isinstance(network[0], BranchedLinear)
    network[0](torch.randn(2, 8))
    assert not has_merged(network)
