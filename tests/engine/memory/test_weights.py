"""The weights of a network: each once, however many places hold it."""

import pytest
import torch
from torch import nn

from mezzotint.memory.accounting import ByteLedger
from mezzotint.memory.arena import DeviceArena
from mezzotint.memory.copying import DirectCopier
from mezzotint.memory.host import HostTensor
from mezzotint.memory.streaming import StreamedNetwork
from mezzotint.memory.weights import check_blocks, weights_of


class Adding(nn.Linear):
    def forward(self, x):
        others = getattr(self, "again", x), getattr(self, "seen", x)
        return super().forward(x) + sum(tensor.sum() for tensor in others)


class Tied(nn.Module):
    """A parameter in two blocks, one twice in the same, a buffer that is a view of all, and one block used twice."""

    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList([Adding(4, 4) for _ in range(4)])
        self.blocks[1].weight = self.blocks[0].weight
        self.blocks[2].again = self.blocks[2].weight
        self.blocks[3].register_buffer("seen", self.blocks[3].weight.detach().view(2, 8))
        self.blocks[3].weight.data = self.blocks[3].weight.data.t()
        self.out = nn.Linear(4, 4)
        self.out.weight = nn.Parameter(self.blocks[0].weight.data)  # tied by its memory alone
        self.register_buffer("none", None)
        self.requires_grad_(False)

    def forward(self, x):
        for block in (*self.blocks, self.blocks[2]):
            x = block(x)
        return self.out(x)


BLOCKS = [f"blocks.{index}" for index in range(4)]


def test_each_weight_is_found_once_with_the_block_that_has_it_to_itself():
    found = {weight.name: (weight.block, len(weight.places)) for weight in weights_of(Tied(), BLOCKS)}
    assert found == {
        "blocks.0.weight": ("", 3),
        "blocks.0.bias": ("blocks.0", 1),
        "blocks.1.bias": ("blocks.1", 1),
        "blocks.2.weight": ("blocks.2", 2),
        "blocks.2.bias": ("blocks.2", 1),
        "blocks.3.weight": ("blocks.3", 1),
        "blocks.3.bias": ("blocks.3", 1),
        "blocks.3.seen": ("blocks.3", 1),
        "out.bias": ("", 1),
    }


@pytest.mark.parametrize("resident", range(5))
def test_a_network_that_shares_weights_streams(resident):
    network, x = Tied(), torch.randn(3, 4)
    expected, state = network(x), dict(network.named_parameters(remove_duplicate=False))
    streamed = StreamedNetwork(
        network,
        BLOCKS,
        resident=resident,
        slots=1,
        copier=DirectCopier(),
        arena=DeviceArena(torch.device("cpu"), ByteLedger()),
    )
    streamed.enter()
    assert network.blocks[1].weight is network.blocks[0].weight is network.out.weight
    assert network.blocks[3].weight.stride() == (1, 4)
    for _ in range(3):
        assert network(x).equal(expected)
    streamed.leave()
    back = dict(network.named_parameters(remove_duplicate=False))
    assert all(back[name].data_ptr() == tensor.data_ptr() for name, tensor in state.items())
    assert network(x).equal(expected)


def test_what_comes_from_disk_leaves_ram():
    network, kept = nn.Linear(3, 3), HostTensor(torch.randn(3, 3))
    weight, bias = weights_of(network, [], {"weight": kept})
    assert weight.source is kept and network.weight.is_meta and isinstance(network.weight, nn.Parameter)
    assert bias.source.tensor().data_ptr() == network.bias.data_ptr()


@pytest.mark.parametrize("name", ["blocks.0.weight", "blocks.1.weight"])
def test_what_is_tied_comes_by_whichever_name_a_file_has(name):
    network, x, kept = Tied(), torch.randn(3, 4), HostTensor(torch.randn(4, 4))
    network.out.weight = network.blocks[0].weight
    with torch.no_grad():
        network.blocks[0].weight.copy_(kept.kept)
    expected = network(x)
    streamed = StreamedNetwork(
        network,
        BLOCKS,
        resident=0,
        slots=1,
        copier=DirectCopier(),
        arena=DeviceArena(torch.device("cpu"), ByteLedger()),
        disk={name: kept},
    )
    assert network.blocks[0].weight is network.blocks[1].weight is network.out.weight
    assert network.out.weight.is_meta
    with torch.inference_mode():
        streamed.enter()
    assert network(x).equal(expected)
    streamed.leave()
    assert network.out.weight is network.blocks[0].weight


def test_a_weight_from_nowhere_is_refused():
    with pytest.raises(ValueError, match="bias has no data"):
        weights_of(nn.Linear(3, 3, device="meta"), [], {"weight": HostTensor(torch.randn(3, 3))})


@pytest.mark.parametrize("blocks", [["nowhere"], ["blocks", "blocks.0"], ["blocks.0", "blocks.0"], ["blocks.0.weight"]])
def test_blocks_that_are_none_are_refused(blocks):
    with pytest.raises(ValueError, match="not a streamable block of Tied"):
        check_blocks(Tied(), blocks)
