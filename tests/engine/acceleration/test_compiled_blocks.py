"""Blocks that run compiled: the same numbers, hooks outside, and none where compiling fails."""

import pytest
import torch
from torch import nn

from mezzotint.acceleration.compiled_blocks import CompiledBlocks

BLOCKS = ("blocks.0", "blocks.1", "blocks.2")


class Block(nn.Module):
    def __init__(self, scale):
        super().__init__()
        self.linear = nn.Linear(8, 8)
        self.scale = scale

    def forward(self, x):
        return torch.tanh(self.linear(x)) * self.scale


class Network(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.blocks = nn.ModuleList(Block(2.0) for _ in BLOCKS)

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return x


@pytest.fixture
def network():
    torch.compiler.reset()
    yield Network().requires_grad_(False)
    torch.compiler.reset()


def counting(compiled):
    """A backend that runs what it is given, and notes each graph."""

    def backend(graph, _inputs):
        compiled.append(graph)
        return graph.forward

    return backend


def test_each_class_is_compiled_once_and_computes_the_same(network):
    graphs, told, x = [], [], torch.randn(3, 8)
    plain = network(x)
    compiler = CompiledBlocks(lambda *words: told.append(words), backend=counting(graphs))
    with compiler.running(network, BLOCKS):
        for _ in range(2):
            torch.testing.assert_close(network(x), plain)
    assert len(graphs) == 1 and told == [] and compiler.failure == ""
    assert not any("forward" in vars(block) for block in network.blocks)


def test_other_weights_at_other_addresses_are_no_reason_to_compile_again(network):
    """As when a network leaves the device and comes back."""
    graphs, x = [], torch.randn(3, 8)
    compiler = CompiledBlocks(lambda *_: None, backend=counting(graphs))
    with compiler.running(network, BLOCKS):
        network(x)
        for block in network.blocks:
            block.linear.weight = nn.Parameter(block.linear.weight * 2, requires_grad=False)
        moved = network(x)
    torch.testing.assert_close(moved, network(x))
    assert len(graphs) == 1


def test_hooks_are_called(network):
    seen = []
    for block in network.blocks:
        block.register_forward_pre_hook(lambda *_: seen.append("before"))
        block.register_forward_hook(lambda *_: seen.append("after"))
    with CompiledBlocks(lambda *_: None, backend="eager").running(network, BLOCKS):
        network(torch.randn(3, 8))
    assert seen == ["before", "after"] * 3


def broken(_graph, _inputs):
    raise RuntimeError("no compiler was found")


def test_what_cannot_be_compiled_runs_as_it_is_and_is_told_once(network):
    told, x = [], torch.randn(3, 8)
    compiler = CompiledBlocks(lambda *words: told.append(words), backend=broken)
    with compiler.running(network, BLOCKS):
        torch.testing.assert_close(network(x), network(x))
    assert len(told) == 1 and told[0][0] == "not_compiled" and compiler.failure


def test_errors_of_the_network_s_own_pass(network):
    told = []
    with (
        pytest.raises(RuntimeError, match="shape"),
        CompiledBlocks(lambda *words: told.append(words), backend="eager").running(network, BLOCKS),
    ):
        network(torch.randn(3, 5))
    assert not any("forward" in vars(block) for block in network.blocks)
