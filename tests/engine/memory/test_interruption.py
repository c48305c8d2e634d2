"""A cancelled job leaves a network before its next block, whatever kind of network it is."""

import pytest
import torch
from streamed_networks import case
from torch import nn

from mezzotint.errors import Cancelled
from mezzotint.memory import interruption
from mezzotint.memory.device import open_device
from mezzotint.memory.interruption import cancellable
from mezzotint.memory.streaming import StreamedNetwork


class Block(nn.Module):
    """A fake slow block: it says when it runs, and can be told to press Cancel."""

    def __init__(self, ran, number, during=lambda number: None):
        super().__init__()
        self.layer = nn.Linear(4, 4)
        self._ran, self._number, self._during = ran, number, during

    def forward(self, hidden=None):
        self._ran.append(self._number)
        self._during(self._number)
        return self.layer(hidden)


class Blocks(nn.Module):
    def __init__(self, during=lambda number: None, *, named=False):
        super().__init__()
        self.ran = []
        self.blocks = nn.ModuleList(Block(self.ran, number, during) for number in range(6))
        self._named = named

    def forward(self, hidden):
        for block in self.blocks:
            hidden = block(hidden=hidden) if self._named else block(hidden)
        return hidden


class Button:
    """Cancel, pressed while a block runs."""

    def __init__(self, at):
        self.at, self.pressed = at, False

    def during(self, number):
        self.pressed = self.pressed or number == self.at


@pytest.mark.parametrize("named", [False, True])
@pytest.mark.parametrize("at", [0, 3])
def test_the_block_during_which_it_is_cancelled_is_the_last(at, named):
    button = Button(at)
    network = Blocks(button.during, named=named)
    with pytest.raises(Cancelled), cancellable([network], lambda: button.pressed):
        network(torch.ones(1, 4))
    assert network.ran == list(range(at + 1))


def test_nothing_changes_unless_it_is_cancelled():
    network = Blocks()
    plain = network(torch.ones(1, 4))
    with cancellable([network, network, object()], lambda: False):
        assert torch.equal(network(torch.ones(1, 4)), plain)
    with cancellable([network], lambda: True):
        pass
    assert torch.equal(network(torch.ones(1, 4)), plain)  # nothing is left in the network


def test_a_network_without_blocks_is_left_between_its_parts():
    ran = []
    network = nn.Sequential(Block(ran, 0), Block(ran, 1))
    with pytest.raises(Cancelled), cancellable([network], lambda: bool(ran)):
        network(torch.ones(1, 4))
    assert ran == [0]


def test_the_program_runs_two_blocks_ahead_of_a_card(monkeypatch):
    """What a card still has to do is waited for, or a cancelled job would only stop once all was done."""
    monkeypatch.setattr(interruption, "_is_on_card", lambda given: True)
    monkeypatch.setattr(torch.cuda, "is_current_stream_capturing", lambda: False)
    network, waited = Blocks(), []

    def mark():
        begun = len(network.ran)
        return lambda: waited.append((begun, len(network.ran)))

    with cancellable([network], lambda: False, mark):
        network(torch.ones(1, 4))
    assert waited == [(0, 2), (1, 3), (2, 4), (3, 5)]


def test_a_graph_that_is_recorded_is_not_left(monkeypatch):
    monkeypatch.setattr(interruption, "_is_on_card", lambda given: True)
    monkeypatch.setattr(torch.cuda, "is_current_stream_capturing", lambda: True)
    network = Blocks()
    with cancellable([network], lambda: True, lambda: pytest.fail("waited while recording")):
        network(torch.ones(1, 4))
    assert network.ran == list(range(6))


@pytest.mark.parametrize("name", ["flux", "pixart"])
def test_a_streamed_network_that_was_left_halfway_runs_again(name):
    chosen = case(name)
    device = open_device(torch.device("cpu"), cap=None, simulated=True, reading=False)
    network = StreamedNetwork(
        chosen.network, chosen.blocks, resident=1, slots=2, copier=device.copier, arena=device.arena
    )
    asked = []

    def cancelled():
        asked.append(True)
        return len(asked) == 2

    with cancellable([chosen.network], cancelled):
        network.enter()
        with device.counting(), pytest.raises(Cancelled):
            chosen.call()
        assert len(asked) == 2
        with device.counting():
            assert chosen.call().equal(chosen.answer)
        network.leave()
    assert device.arena.in_use == 0
