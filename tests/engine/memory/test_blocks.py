"""Which parts of networks are blocks, and when they run."""

import pytest
import torch
from small_networks import small_networks
from torch import nn

from mezzotint.memory.blocks import blocks_of, order_of

COUNTS = {
    "UNet2DConditionModel": 8 + 8 + 2,  # residual blocks, transformer blocks, changes of size
    "PixArtTransformer2DModel": 3,
    "FluxTransformer2DModel": 2 + 3,
    "SD3Transformer2DModel": 3,
    "QwenImageTransformer2DModel": 3,
    "CLIPTextModel": 3,
    "T5EncoderModel": 2,
    "Qwen2_5_VLForConditionalGeneration": 3 + 2,
}


@pytest.mark.parametrize("class_name", list(small_networks()))
def test_no_block_lies_in_another(class_name):
    network = small_networks()[class_name]()
    blocks = blocks_of(network)
    assert len(blocks) == len(set(blocks)) == COUNTS.get(class_name, len(blocks))
    assert blocks
    assert not any(one.startswith(f"{other}.") for one in blocks for other in blocks)
    assert all(network.get_submodule(name) for name in blocks)


class _Unheard(nn.Module):
    def __init__(self):
        super().__init__()
        self.entry = nn.Linear(4, 4)
        self.late = nn.ModuleList([nn.ModuleList([nn.Linear(4, 4)]) for _ in range(2)])
        self.body = nn.Module()
        self.body.early = nn.ModuleList([nn.Linear(4, 4) for _ in range(3)])

    def forward(self, x):
        for layer in self.body.early:
            x = layer(x)
        x = self.body.early[0](x)
        return self.late[0][0](x)


def test_of_unheard_networks_the_outermost_lists_are_taken_apart():
    assert blocks_of(_Unheard()) == ("late.0", "late.1", "body.early.0", "body.early.1", "body.early.2")


def test_order_is_that_of_the_first_call_and_leaves_nothing_behind():
    network = _Unheard()
    names = ("late.0.0", "late.1.0", "body.early.0", "body.early.1", "body.early.2")
    run = lambda: network(torch.zeros(4))  # noqa: E731
    assert order_of(network, names, run) == ("body.early.0", "body.early.1", "body.early.2", "late.0.0")
    assert not any(module._forward_pre_hooks for module in network.modules())


def test_a_pass_that_fails_leaves_nothing_behind():
    network = _Unheard()
    with pytest.raises(RuntimeError):
        order_of(network, ("late.0.0",), lambda: network(torch.zeros(5)))
    assert not any(module._forward_pre_hooks for module in network.modules())
