"""Bytes told by shapes, beside those of networks that are quantized indeed."""

import pytest
import torch
from small_networks import small_networks

from mezzotint.errors import ModelRefused
from mezzotint.memory.blocks import blocks_of
from mezzotint.memory.footprints.footprint import block_bytes
from mezzotint.memory.footprints.tracing import HALF
from mezzotint.memory.footprints.weight_bytes import SCHEMES, weight_bytes
from mezzotint.quantization.layers import layers_of, swap_in
from mezzotint.quantization.policy import Choice, can_quantize, formats_for

QUANTIZABLE = [name for name in small_networks() if can_quantize(name)]


def real_bytes(module):
    tables = [each for part in module.modules() for each in vars(part).values() if isinstance(each, torch.Tensor)]
    return sum(tensor.nbytes for tensor in (*module.parameters(), *module.buffers(), *tables))


def quantized(class_name, scheme):
    network = small_networks()[class_name]().to(HALF)
    if scheme != "none":
        swap_in(network, formats_for(class_name, layers_of(network), Choice(scheme=scheme)))
    return network


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("class_name", QUANTIZABLE)
def test_as_many_as_the_quantized_network_has(class_name, scheme):
    counted = weight_bytes(small_networks()[class_name](), class_name, blocks_of(small_networks()[class_name]()))
    if scheme not in counted.outside:
        with pytest.raises(ModelRefused):
            quantized(class_name, scheme)
        return
    network = quantized(class_name, scheme)
    most = 1.25 if scheme == "nvfp4" else 1.0  # counted like another, whose rows have scales: many in these networks
    for block in counted.blocks:
        real = real_bytes(network.get_submodule(block.name))
        assert real <= block.bytes[scheme] <= most * real
    total = counted.outside[scheme] + sum(block.bytes[scheme] for block in counted.blocks)
    assert real_bytes(network) <= total <= most * real_bytes(network)


def test_networks_without_a_policy_are_counted_as_their_layers_would_be():
    network = small_networks()["FluxTransformer2DModel"]()
    counted = weight_bytes(network, "FluxTransformer2DModel", blocks_of(network))
    assert set(counted.outside.values()) == {counted.outside["none"]}
    inside = [m for m in network.get_submodule("transformer_blocks.0").modules() if type(m) is type(network.proj_out)]
    saved = counted.blocks[0].bytes["none"] - counted.blocks[0].bytes["int8"]
    assert saved == sum(m.weight.numel() - 4 * m.weight.shape[0] for m in inside)


def test_a_weight_in_two_places_counts_once():
    network = small_networks()["T5EncoderModel"]()
    network.encoder.embed_tokens.weight = network.shared.weight
    once = weight_bytes(network, "T5EncoderModel", ()).outside["none"]
    assert once == 2 * sum(p.numel() for p in network.parameters())
    assert {id(network.shared.weight)} == {id(network.encoder.embed_tokens.weight)}


def test_a_scheme_that_fits_nothing_counts_as_none():
    network = small_networks()["PixArtTransformer2DModel"]()
    counted = weight_bytes(network, "PixArtTransformer2DModel", blocks_of(network))
    assert "int4-lowrank" not in counted.outside
    assert block_bytes(counted.blocks[0], "int4-lowrank") == counted.blocks[0].bytes["none"]
