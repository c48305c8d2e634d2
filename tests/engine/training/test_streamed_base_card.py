"""Blocks of a training streamed to a card that is not there: forward and back, in order, without a wait.

The simulated card has no backward pass: blocks are computed in the order of one.
"""

import pytest
import torch
from fake_card.install import fake_card
from fake_card.state import Hazard
from torch import nn

from mezzotint.memory.device import open_device
from mezzotint.training import streamed_base as module
from mezzotint.training.offloading import offloading
from mezzotint.training.streamed_base import streamed_base

CUDA = torch.device("cuda:0")
MIB = 2**20
WIDTH = 64


class Stack(nn.Module):
    """Blocks that are computed forward, and then back."""

    def __init__(self, blocks):
        super().__init__()
        self.layers = nn.ModuleList(nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.Tanh()) for _ in range(blocks))

    def forward(self, x):
        for layer in [*self.layers, *reversed(self.layers)]:
            x = layer(x)
        return x


def answer(card, *, streamed=6, pin=64 * MIB, steps=3):
    """What the card computes, the same in RAM, and what the host waited for."""
    network, x = Stack(6).requires_grad_(False), torch.randn(4, WIDTH)
    device, wanted = open_device(CUDA, reading=not pin), network(x)
    blocks = [f"layers.{place}" for place in range(6)]
    with streamed_base(network, blocks, streamed, device, pin_bytes=pin) as base:
        y = x.to(CUDA)
        card.waits.clear()
        misses = []
        for _ in range(steps):
            found = network(y)
            misses.append(base.misses)
        waits = [what for what, where in card.waits if " in " not in where and what != "copy from host"]
        assert misses[-1] - misses[-2] == 0, "it is known what comes"
        found = found.cpu()
    device.close()
    return found, wanted, waits


@pytest.mark.parametrize("pin", [0, 64 * MIB])
@pytest.mark.parametrize("streamed", [3, 6])
def test_it_computes_the_same_in_order_and_the_host_never_waits(streamed, pin):
    with fake_card(64 * MIB) as card:
        found, wanted, waits = answer(card, streamed=streamed, pin=pin)
        assert torch.equal(found, wanted)
        assert (waits, card.hazards) == ([], [])


def test_a_slot_that_is_reused_too_early_is_a_hazard(monkeypatch):
    def begin(self, _, before, after):
        before()
        after()

    monkeypatch.setattr(module.Turns, "_begin", begin)
    with fake_card(64 * MIB) as card, pytest.raises(Hazard):
        answer(card)


def test_what_is_offloaded_comes_back_although_its_memory_is_used_again():
    with fake_card(64 * MIB) as card:
        kept, numbers = offloading(CUDA), torch.randn(1024)
        x = numbers.to(CUDA) * 1.0
        card.waits.clear()
        saved = kept._pack(x)
        del x
        others = torch.zeros(1024, device=CUDA)
        back = saved.back()
        assert card.hazards == [] and not card.waits
        assert torch.equal(back.cpu(), numbers) and not others.cpu().any()
