"""Blocks that are left out: the network computes as one that was built without them."""

import pytest
import torch
from torch import nn

from mezzotint.training.skipping import SkippableBlocks


class Block(nn.Module):
    def __init__(self, width=4):
        super().__init__()
        self.layer = nn.Linear(width, width)

    def forward(self, x, *, text):
        return x + self.layer(x), text + 1


class Network(nn.Module):
    def __init__(self, count=4):
        super().__init__()
        torch.manual_seed(0)
        self.blocks = nn.ModuleList(Block() for _ in range(count))
        self.last = nn.Linear(4, 4)

    def forward(self, x, text):
        for block in self.blocks:
            x, text = block(x, text=text)
        return self.last(x) + text


@pytest.fixture
def network():
    return Network().double()


@pytest.fixture
def given():
    return torch.randn(2, 4, dtype=torch.float64), torch.randn(2, 4, dtype=torch.float64)


@pytest.mark.parametrize("gone", [(0,), (3,), (1, 2)])
def test_it_computes_as_without_them(network, given, gone):
    blocks = SkippableBlocks(network, lambda: network(*given))
    assert blocks.names == tuple(f"blocks.{place}" for place in range(4))
    whole = network(*given)
    with blocks.skipping([f"blocks.{place}" for place in gone]):
        found = network(*given)
    smaller = Network().double()
    smaller.blocks = nn.ModuleList(block for place, block in enumerate(smaller.blocks) if place not in gone)
    assert torch.equal(found, smaller(*given)) and not torch.equal(found, whole)
    assert torch.equal(network(*given), whole), "they are back afterwards"


def test_only_blocks_of_the_usual_shape_count(network, given):
    network.blocks[2].layer = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 4)).double()
    blocks = SkippableBlocks(network, lambda: network(*given))
    assert blocks.names == ("blocks.0", "blocks.1", "blocks.3")
