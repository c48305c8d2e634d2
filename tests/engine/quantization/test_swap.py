"""Quantized layers in the place of a network's own: found, put in, empty until they are filled."""

import pytest
import torch
from quantized_weights import relative, seeded
from torch import nn

from mezzotint.quantization.formats import Int8, Nf4
from mezzotint.quantization.layers import QuantizedConv2d, QuantizedLinear
from mezzotint.quantization.policy import LayerShape
from mezzotint.quantization.swap import layers_of, quantized_layers, swap_in


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3, padding=1)
        self.mirrored = nn.Conv2d(8, 8, 3, padding=1, padding_mode="reflect")
        self.out = nn.ModuleList([nn.Linear(64, 16), nn.Dropout(0.0)])
        self.words = nn.Embedding(5, 4)

    def forward(self, x):
        return self.out[0](self.mirrored(self.conv(x)).flatten(2))


FORMATS = {"0.conv": Int8(dynamic=False), "0.out.0": Nf4()}


def test_linear_layers_and_plain_convolutions_are_found():
    assert layers_of(nn.Sequential(Block())) == (
        LayerShape(name="0.conv", shape=(8, 3, 3, 3)),
        LayerShape(name="0.out.0", shape=(16, 64)),
    )


def test_those_named_are_replaced_and_keep_their_biases():
    network = nn.Sequential(Block())
    plain = {name: network.get_submodule(name) for name in FORMATS}
    kept = network[0].mirrored
    swap_in(network, FORMATS)
    found = dict(quantized_layers(network))
    assert {name: layer.format for name, layer in found.items()} == FORMATS
    assert isinstance(found["0.conv"], QuantizedConv2d) and isinstance(found["0.out.0"], QuantizedLinear)
    assert network[0].mirrored is kept
    for name, layer in found.items():
        assert layer.bias.equal(plain[name].bias) and not layer.bias.requires_grad
        assert layer.get_buffer("quantized_weight").is_meta
    assert layers_of(network) == ()


def test_a_network_filled_again_makes_nearly_the_same():
    network, x = nn.Sequential(Block()), seeded(2, 3, 8, 8)
    with torch.inference_mode():
        before = network(x)
        weights = {name: network.get_submodule(name).weight.detach() for name in FORMATS}
        swap_in(network, FORMATS)
        for name, layer in quantized_layers(network):
            layer.set_tensors(layer.format.quantize(weights[name]))
        assert 0 < relative(network(x), before) < 0.2


def test_a_name_that_is_none_is_an_error():
    with pytest.raises(AttributeError):
        swap_in(nn.Sequential(Block()), {"0.missing": Nf4()})
