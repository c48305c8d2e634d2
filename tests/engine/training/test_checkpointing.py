"""Checkpointing changes no bit of a gradient, and keeps fewer bytes."""

from typing import get_args

import pytest
import torch
from tiny_flux1 import write_tiny_flux
from tiny_training import TinyTraining
from tiny_z_image import write_tiny_z_image
from torch import nn

from mezzotint.memory.blocks import blocks_of
from mezzotint.memory.footprints.live_memory import GRAIN, LiveMemory
from mezzotint.training.checkpointing import apply_checkpointing, segment_lengths
from mezzotint.training_protocol import Checkpointing

MODES = get_args(Checkpointing)
_WRITERS = {"flux": write_tiny_flux, "z-image": write_tiny_z_image}


@pytest.fixture(scope="module", params=["pixart", "sdxl", "flux", "z-image"])
def tiny(request, tmp_path_factory):
    if request.param in _WRITERS:
        folder = tmp_path_factory.mktemp(request.param) / request.param
        _WRITERS[request.param](folder)
    else:
        folder = request.getfixturevalue(f"tiny_{request.param}_folder")
    return TinyTraining(folder, images=2)


class Kept:
    """Bytes of the storages that a forward pass saves for the backward pass."""

    def __init__(self):
        self.storages = {}

    @property
    def bytes(self):
        return sum(each.nbytes() for each in self.storages.values())

    def pack(self, tensor):
        storage = tensor.untyped_storage()
        self.storages[storage.data_ptr()] = storage
        return tensor


def gradients(tiny, mode, steps=2):
    """Gradients of the factors after two passes, and the bytes that the last one kept."""
    trainer = tiny.trainer()
    for name, each in trainer.adapter.named().items():
        if name.endswith(".up"):
            each.data = torch.randn(each.shape, generator=torch.Generator().manual_seed(len(name))) * 0.05
    undo = apply_checkpointing(tiny.network, mode)
    levels = torch.tensor([0.3, 0.7]) if trainer._objective.abar is None else torch.tensor([300, 700])
    try:
        with trainer.adapter.attached():
            for step in range(steps):
                noise = [
                    torch.randn(each.latents.shape, generator=torch.Generator().manual_seed(step))
                    for each in tiny.images
                ]
                kept = Kept()
                with torch.autograd.graph.saved_tensors_hooks(kept.pack, lambda tensor: tensor):
                    loss = trainer._losses(tiny.images, torch.stack(noise), levels).sum()
                loss.backward()
    finally:
        undo()
    return [each.grad.clone() for each in trainer.adapter.parameters()], kept.bytes


@pytest.mark.slow_after(2)
def test_gradients_are_the_same_to_the_bit_and_fewer_bytes_are_kept(tiny):
    found = {mode: gradients(tiny, mode) for mode in MODES}
    plain, most = found["none"]
    assert all(bool(each.any()) for each in plain)
    for mode in MODES:
        assert all(torch.equal(a, b) for a, b in zip(plain, found[mode][0], strict=True)), mode
    assert found["blocks"][1] < found["selective"][1] < most
    assert found["sqrt"][1] <= found["blocks"][1]


def test_undone_it_leaves_no_trace(tiny):
    for mode in MODES:
        apply_checkpointing(tiny.network, mode)()
        assert not any("forward" in module.__dict__ for module in tiny.network.modules())


def test_without_gradients_nothing_changes(tiny):
    image = tiny.images[0]

    def predicted():
        with torch.no_grad():
            return tiny.family.predict(tiny.model, image.latents[None], torch.tensor([500.0]), image.conditioning)

    plain = predicted()
    for mode in MODES:
        gradients(tiny, mode, steps=1)
        undo = apply_checkpointing(tiny.network, mode)
        assert torch.equal(predicted(), plain)
        undo()


class Stack(nn.Module):
    """Blocks with dropout, one after another."""

    def __init__(self, length, width=8):
        super().__init__()
        self.layers = nn.ModuleList(
            nn.Sequential(nn.Linear(width, width), nn.GELU(), nn.Dropout(0.5)) for _ in range(length)
        )

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


@pytest.mark.parametrize("mode", MODES)
def test_dropout_draws_the_same_numbers_again(mode):
    torch.manual_seed(0)
    network, x = Stack(9), torch.randn(4, 8)
    found = []
    for each in ("none", mode):
        undo = apply_checkpointing(network, each)
        torch.manual_seed(1)
        network.zero_grad()
        network(x).square().sum().backward()
        found.append([each.grad.clone() for each in network.parameters()])
        undo()
    assert all(torch.equal(a, b) for a, b in zip(*found, strict=True))


class Named(Stack):
    """Names the arguments of its blocks."""

    def forward(self, x):
        for layer in self.layers:
            x = layer(input=x)
        return x


@pytest.mark.parametrize("length", [4, 16, 64])
@pytest.mark.parametrize("owner", [Stack, Named])
def test_sqrt_keeps_as_many_inputs_as_there_are_segments(length, owner):
    network, x = owner(length), torch.randn(128, 8, requires_grad=True)
    undo = apply_checkpointing(network, "sqrt")
    network(x)
    memory = LiveMemory()
    with memory:
        y = network(x)
    segments = len(segment_lengths(length))
    assert segments == length**0.5
    # the first segment's input is x, which is not counted; y is what the last one returns
    assert segments * x.nbytes <= memory.live < (segments + 1) * x.nbytes + length * GRAIN
    y.sum().backward()
    undo()


@pytest.mark.parametrize("blocks", range(1, 60))
def test_segments_are_about_as_many_as_long(blocks):
    lengths = segment_lengths(blocks)
    assert sum(lengths) == blocks
    assert max(lengths) - min(lengths) <= 1
    assert abs(len(lengths) - blocks**0.5) <= 0.5


class Collecting(Stack):
    """Returns what is between its blocks, too."""

    def forward(self, x):
        seen = []
        for layer in self.layers:
            x = layer(x)
            seen.append(x)
        return sum(seen)


def test_a_result_that_is_used_elsewhere_ends_a_segment():
    torch.manual_seed(0)
    network, x = Collecting(4).eval(), torch.randn(2, 8)
    plain = torch.autograd.grad(network(x).sum(), tuple(network.parameters()))
    undo = apply_checkpointing(network, "sqrt")
    again = torch.autograd.grad(network(x).sum(), tuple(network.parameters()))
    assert all(torch.equal(a, b) for a, b in zip(plain, again, strict=True))
    undo()


def test_a_result_that_is_only_used_later_is_an_error_rather_than_wrong_numbers():
    class Changing(Stack):
        def forward(self, x):
            return Collecting.forward(self, x) if collects else Stack.forward(self, x)

    network, x, collects = Changing(4).eval(), torch.randn(2, 8), False
    apply_checkpointing(network, "sqrt")
    network(x)
    collects = True
    with pytest.raises(RuntimeError, match="device"):
        network(x)


def test_blocks_that_are_given_something_else_are_no_segment():
    class Scaled(Stack):
        def forward(self, x):
            for number, layer in enumerate(self.layers):
                x = layer(x * (1 + number))
            return x

    torch.manual_seed(0)
    network, x = Scaled(4).eval(), torch.randn(2, 8)
    assert len(blocks_of(network)) == 4
    plain = torch.autograd.grad(network(x).sum(), tuple(network.parameters()))
    undo = apply_checkpointing(network, "sqrt")
    again = torch.autograd.grad(network(x).sum(), tuple(network.parameters()))
    assert all(torch.equal(a, b) for a, b in zip(plain, again, strict=True))
    undo()
