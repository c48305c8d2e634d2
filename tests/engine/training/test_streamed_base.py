"""A streamed base changes no bit of a gradient, and only its slots are on the device."""

import pytest
import torch
from base_gradients import bigger, gradients
from tiny_training import TinyTraining

from mezzotint.memory.blocks import blocks_of
from mezzotint.memory.device import open_device
from mezzotint.training import streamed_base as module
from mezzotint.training.streamed_base import streamed_base

CPU = torch.device("cpu")


@pytest.fixture(scope="module", params=["starter-dit", "starter-xl"])
def model(request):
    return request.param


@pytest.fixture(scope="module")
def tiny(model):
    return TinyTraining(model, images=2)


@pytest.fixture(scope="module")
def plain(tiny):
    return gradients(tiny, "none")


@pytest.mark.slow_after(4)
@pytest.mark.parametrize("mode", ["blocks", "sqrt"])
@pytest.mark.parametrize("kept", [0, 2])
def test_gradients_are_the_same_to_the_bit(tiny, plain, mode, kept):
    streamed = len(blocks_of(tiny.network)) - kept
    assert bigger(plain) and all(map(torch.equal, plain, gradients(tiny, mode, streamed=streamed)))
    assert not any("forward" in each.__dict__ for each in tiny.network.modules())


@pytest.mark.slow_after(2)
@pytest.mark.parametrize("scheme", ["int8-weight", "int4"])
def test_quantized_bases_are_streamed_as_well(model, scheme):
    """Also where the last layers of a block are not trained, so that autograd saves nothing for them."""
    tiny, how = TinyTraining(model, scheme=scheme, images=2), {"ranks": (("ff", 0), ("to_out", 0))}
    assert all(map(torch.equal, gradients(tiny, "none", how), gradients(tiny, "blocks", how, streamed=5)))


def test_a_slot_that_is_reused_too_early_is_seen(tiny, plain, monkeypatch):
    def begin(self, _, before, after):
        before()
        after()

    monkeypatch.setattr(module.Turns, "_begin", begin)
    found = gradients(tiny, "blocks", streamed=len(blocks_of(tiny.network)))
    assert not all(map(torch.equal, plain, found))


def test_after_a_step_the_slots_know_what_comes(tiny):
    blocks = blocks_of(tiny.network)
    misses = []

    def count(base):
        misses.append(base.misses)

    gradients(tiny, "blocks", streamed=len(blocks), steps=4, after_step=count)
    assert misses[3] - misses[2] <= 2


def test_what_is_on_the_device_is_counted(tiny):
    device, blocks = open_device(CPU), blocks_of(tiny.network)
    with streamed_base(tiny.network, blocks, 0, device) as base:
        whole = device.arena.in_use
    with streamed_base(tiny.network, blocks, len(blocks), device) as base:
        assert device.arena.in_use == base.bytes() < whole
    assert device.arena.in_use == 0
