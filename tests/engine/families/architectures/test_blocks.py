"""Blocks: norms and modulation in the place of PixArt's."""

import torch
from tiny_variant import variant_inputs, variant_network
from torch import nn

from mezzotint.families.architectures.blocks import NORMS


def test_rms_norms_divide_by_the_root_of_the_mean_square():
    norm = NORMS["rms"](nn.LayerNorm(6, eps=1e-6, elementwise_affine=False))
    x = torch.randn(2, 3, 6)
    torch.testing.assert_close(norm(x), x / (x.square().mean(dim=2, keepdim=True) + 1e-6).sqrt())
    assert not list(norm.parameters())
    assert NORMS["rms"](nn.LayerNorm(6)).weight is not None


def test_with_rms_norms_there_are_no_others():
    network = variant_network(norm="rms")
    assert not any(isinstance(each, nn.LayerNorm) for each in network.modules())


def test_blocks_with_their_own_modulation_begin_as_identities():
    network = variant_network(modulation="zero")
    for block in network.transformer_blocks:
        nn.init.zeros_(block.modulation.weight)
        nn.init.zeros_(block.modulation.bias)
        nn.init.zeros_(block.attn2.to_out[0].weight)  # cross-attention has no gate
        nn.init.zeros_(block.attn2.to_out[0].bias)
    inputs = variant_inputs()
    full = network(**inputs).sample
    network._order = ()
    assert torch.equal(network(**inputs).sample, full)


def test_the_modulation_of_each_block_depends_on_the_timestep():
    network = variant_network(modulation="zero")
    inputs = variant_inputs()
    other = network(**inputs | {"timestep": inputs["timestep"] + 200}).sample
    assert not torch.equal(network(**inputs).sample, other)
    assert not hasattr(network.transformer_blocks[0], "scale_shift_table")
