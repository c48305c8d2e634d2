"""Weights gathered into runs that are locked, within a budget; what the system refuses stays as good as it was."""

import pytest
import torch
from streamed_networks import case, fingerprint, tensors_of
from torch import nn

from mezzotint.memory import pinning, segments
from mezzotint.memory.accounting import ByteLedger
from mezzotint.memory.arena import DeviceArena
from mezzotint.memory.copying import DirectCopier
from mezzotint.memory.pinning import CHUNK
from mezzotint.memory.streaming import StreamedNetwork

PLENTY = 2**30


class Locker:
    """Remembers what is locked, and refuses when it has locked enough."""

    def __init__(self, runs=1000):
        self.runs, self.locked = runs, {}

    def lock(self, address, size):
        assert address % 4096 == size % 4096 == 0
        if len(self.locked) == self.runs:
            return False
        self.locked[address] = size
        return True

    def unlock(self, address):
        del self.locked[address]


def network_of(blocks=6, size=40):
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(1)
        network = nn.Sequential(*[nn.Linear(size, size) for _ in range(blocks)]).requires_grad_(False)
    made = StreamedNetwork(
        network,
        [str(index) for index in range(blocks)],
        resident=2,
        slots=2,
        copier=DirectCopier(),
        arena=DeviceArena(torch.device("cpu"), ByteLedger()),
    )
    return network, made


def is_locked(tensor, locker):
    return any(start <= tensor.data_ptr() < start + size for start, size in locker.locked.items())


@pytest.mark.parametrize("chunk", [1, 10_000, 20_000, CHUNK])
def test_everything_is_locked_and_the_same(chunk):
    network, streamed = network_of()
    x = torch.randn(3, 40)
    expected, locker = network(x), Locker()
    assert streamed.pin(locker, PLENTY, chunk)
    assert all(is_locked(tensor, locker) for _, tensor in tensors_of(network))
    assert all(weight.source.supports_async_copy for weight in streamed.weights)
    assert streamed.pinned_bytes == sum(locker.locked.values())
    assert network(x).equal(expected) and isinstance(network[0].weight, nn.Parameter)
    streamed.enter()
    assert network(x).equal(expected)
    streamed.unpin()
    assert not locker.locked and not streamed.entered and streamed.pinned_bytes == 0
    assert not any(weight.source.supports_async_copy for weight in streamed.weights)
    assert network(x).equal(expected)


@pytest.mark.parametrize("budget", [0, 4096, 30_000, 60_000])
def test_the_budget_holds_and_streamed_blocks_come_first(budget):
    network, streamed = network_of()
    locker = Locker()
    assert streamed.pin(locker, budget, 10_000)
    assert sum(locker.locked.values()) == streamed.pinned_bytes <= budget
    first = [network[int(block)].weight for slot in streamed.arrangement().slots for block in slot]
    flags = [is_locked(weight, locker) for weight in first]
    assert flags == sorted(flags, reverse=True) and any(flags) == (budget > 8192)


def test_small_weights_fill_what_large_ones_leave_of_the_budget():
    network, streamed = network_of()
    streamed.pin(Locker(), 4096)
    biases = sum(module.bias.numel() * 4 for module in network)
    assert streamed.pinned_bytes == 4096 > biases
    assert all(weight.source.supports_async_copy == (weight.source.layout.bytes < 4096) for weight in streamed.weights)


def test_sizes_are_added_up_once():
    """A quantized U-Net has ten thousand weights: counting all before each of them anew takes seconds."""
    network, streamed = network_of(blocks=200, size=1)
    counted = []
    locker = Locker()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pinning, "placed", lambda layouts: counted.append(len(layouts)) or segments.placed(layouts))
        assert streamed.pin(locker, PLENTY)
    assert all(is_locked(tensor, locker) for _, tensor in tensors_of(network))
    assert sum(counted) <= 3 * 400


def test_what_is_refused_stays_pageable_and_right():
    network, streamed = network_of()
    x, locker = torch.randn(3, 40), Locker(runs=2)
    expected = network(x)
    assert not streamed.pin(locker, PLENTY, 10_000)
    assert len(locker.locked) == 2
    for weight in streamed.weights:
        assert weight.source.supports_async_copy == is_locked(weight.at_rest, locker)
    streamed.enter()
    assert network(x).equal(expected)
    with pytest.raises(RuntimeError, match="while the network is on the device"):
        streamed.pin(locker, PLENTY)
    streamed.leave()
    assert network(x).equal(expected)


def test_no_tensor_is_left_in_its_old_place():
    network, streamed = network_of()
    before = {tensor.data_ptr() for _, tensor in tensors_of(network)}
    streamed.pin(Locker(), PLENTY)
    assert before.isdisjoint(tensor.data_ptr() for _, tensor in tensors_of(network))
    assert {weight.source.tensor().data_ptr() for weight in streamed.weights}.isdisjoint(before)


def test_another_network_is_untouched():
    chosen = case("pixart")
    network_of()[1].pin(Locker(), PLENTY)
    assert fingerprint(chosen.network) == chosen.fingerprint
