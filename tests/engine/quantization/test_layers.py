"""Layers that take the place of torch's own: empty until they are filled, then the same operation."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from quantized_weights import relative, seeded
from torch import nn
from torch.nn import functional

from mezzotint.quantization.formats import Int8, LowRank4, Nf4
from mezzotint.quantization.layers import (
    QuantizedConv2d,
    QuantizedLinear,
    buffer_name,
    layers_of,
    quantized_layers,
    swap_in,
)
from mezzotint.quantization.linear import Branch, QuantizedWeight
from mezzotint.quantization.policy import LayerShape

FORMATS = [Int8(dynamic=True, group=64), Int8(dynamic=False), Nf4(), LowRank4(rank=4)]
EACH = pytest.mark.parametrize("format_", FORMATS, ids=str)


def filled(format_, plain):
    layer = QuantizedLinear(format_, tuple(plain.weight.shape), plain.bias)
    layer.set_tensors(format_.quantize(plain.weight.detach()))
    return layer


@EACH
def test_it_is_built_without_memory_with_the_tensors_of_its_format(format_):
    layer = QuantizedLinear(format_, (2**20, 2**20), None)
    described = format_.part_specs((2**20, 2**20))
    assert {name: (tuple(each.shape), each.dtype) for name, each in layer.named_buffers()} == {
        f"quantized_{name}": (each.shape, each.dtype) for name, each in described.items()
    }
    assert all(buffer.is_meta for buffer in layer.buffers())
    assert (layer.in_features, layer.out_features) == (2**20, 2**20)


@EACH
def test_a_linear_layer_multiplies_with_its_weight(format_):
    plain, x = nn.Linear(128, 24).requires_grad_(requires_grad=False), seeded(2, 7, 128)
    layer = filled(format_, plain)
    wanted = functional.linear(x, layer.weight.dequantized(torch.float32), plain.bias)
    assert relative(layer(x), wanted) < 0.02
    assert not list(layer.parameters())
    assert isinstance(layer.weight, QuantizedWeight)


@EACH
def test_its_state_is_filled_by_name_into_a_network_on_no_device(format_):
    plain = nn.Linear(128, 24)
    whole = nn.Sequential(filled(format_, plain))
    empty = nn.Sequential(QuantizedLinear(format_, (24, 128), torch.empty(24, device="meta")))
    names = {buffer_name("0", name) for name in format_.part_specs((24, 128))} | {"0.bias"}
    assert set(whole.state_dict()) == names
    empty.load_state_dict(whole.state_dict(), assign=True)
    x = seeded(3, 128)
    assert empty(x).equal(whole(x))


def test_it_moves_and_keeps_its_integers_when_the_network_changes_format():
    layer = filled(Int8(dynamic=True), nn.Linear(64, 8)).to(torch.device("cpu"))
    assert layer.weight.tensors["weight"].dtype == torch.int8


@given(
    channels=st.tuples(st.integers(1, 3), st.integers(1, 3)),
    groups=st.integers(1, 2),
    window=st.sampled_from([1, 3]),
    stride=st.integers(1, 2),
    padding=st.sampled_from([0, 1, (1, 0), "same", "valid"]),
    dilation=st.integers(1, 2),
    biased=st.booleans(),
)
def test_a_convolution_walks_as_torchs_own(channels, groups, window, stride, padding, dilation, biased):
    inputs, outputs = (groups * each for each in channels)
    stride = 1 if padding == "same" else stride
    plain = nn.Conv2d(inputs, outputs, window, stride, padding, dilation, groups, bias=biased)
    layer = QuantizedConv2d(Int8(dynamic=False), plain)
    assert all(buffer.is_meta for name, buffer in layer.named_buffers() if name != "bias")
    layer.set_tensors(layer.format.quantize(plain.weight.detach()))
    x = seeded(2, inputs, 7, 8)
    weight = layer.weight.dequantized(torch.float32)
    wanted = functional.conv2d(x, weight, plain.bias, stride, padding, dilation, groups)
    assert layer(x).equal(wanted) and not layer(x).requires_grad
    assert (wanted - plain(x)).abs().max() <= 0.5 * layer.weight.tensors["weight_scale"].max() * x.abs().sum()


def test_a_convolution_takes_branches():
    plain = nn.Conv2d(4, 6, 3, padding=1)
    layer = QuantizedConv2d(Int8(dynamic=False), plain)
    layer.set_tensors(layer.format.quantize(plain.weight.detach()))
    layer.branches = (Branch(down=seeded(2, 4, 3, 3), up=seeded(6, 2, 1, 1), scale=0.5),)
    added = 0.5 * torch.einsum("nr,rckl->nckl", layer.branches[0].up[:, :, 0, 0], layer.branches[0].down)
    x = seeded(1, 4, 5, 5)
    wanted = functional.conv2d(x, layer.weight.dequantized(torch.float32) + added, plain.bias, padding=1)
    torch.testing.assert_close(layer(x), wanted, rtol=1e-4, atol=1e-4)


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3, padding=1)
        self.mirrored = nn.Conv2d(8, 8, 3, padding=1, padding_mode="reflect")
        self.out = nn.ModuleList([nn.Linear(64, 16), nn.Dropout(0.0)])
        self.words = nn.Embedding(5, 4)

    def forward(self, x):
        return self.out[0](self.mirrored(self.conv(x)).flatten(2))


SWAPPED = {"0.conv": Int8(dynamic=False), "0.out.0": Nf4()}


def test_linear_layers_and_plain_convolutions_are_found():
    assert layers_of(nn.Sequential(Block())) == (
        LayerShape(name="0.conv", shape=(8, 3, 3, 3)),
        LayerShape(name="0.out.0", shape=(16, 64)),
    )


def test_those_named_are_replaced_and_keep_their_biases():
    network = nn.Sequential(Block())
    plain = {name: network.get_submodule(name) for name in SWAPPED}
    kept = network[0].mirrored
    swap_in(network, SWAPPED)
    found = dict(quantized_layers(network))
    assert {name: layer.format for name, layer in found.items()} == SWAPPED
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
        weights = {name: network.get_submodule(name).weight.detach() for name in SWAPPED}
        swap_in(network, SWAPPED)
        for name, layer in quantized_layers(network):
            layer.set_tensors(layer.format.quantize(weights[name]))
        assert 0 < relative(network(x), before) < 0.2


def test_a_name_that_is_none_is_an_error():
    with pytest.raises(AttributeError):
        swap_in(nn.Sequential(Block()), {"0.missing": Nf4()})
