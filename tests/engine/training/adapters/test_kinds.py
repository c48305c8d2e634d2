"""Trained layers against peft and LyCORIS: outputs, gradients, and what is written."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from mezzotint.quantization.formats import Int8, Nf4
from mezzotint.quantization.layers import QuantizedLinear
from mezzotint.training.adapters.kinds import DoraLayer, LayerSettings, LokrLayer, LoraLayer, factorized

RANK, ALPHA = 4, 2.0
LAYERS = {
    "linear": (lambda: nn.Linear(12, 20), (3, 5, 12)),
    "without bias": (lambda: nn.Linear(12, 20, bias=False), (2, 12)),
    "convolution": (lambda: nn.Conv2d(6, 8, 3, padding=1, stride=2), (2, 6, 9, 7)),
    "flat": (lambda: nn.Conv2d(6, 8, 1), (2, 6, 4, 4)),
}


@pytest.fixture(params=LAYERS)
def case(request):
    """A network with one layer, and an input."""
    torch.manual_seed(0)
    build, shape = LAYERS[request.param]
    network = nn.Sequential(build()).requires_grad_(False)
    return network, torch.randn(shape)


def shaken(layer):
    """The layer with other numbers in all parts."""
    for parameter in layer.parts.values():
        parameter.data = parameter.data + torch.randn(parameter.shape) * 0.3
    return layer


def learned(output, parts):
    """Gradients of some loss, by part."""
    (output * torch.randn(output.shape, generator=torch.Generator().manual_seed(5))).sum().backward()
    return {name: parameter.grad for name, parameter in parts.items()}


def in_peft(network, *, dora):
    """A copy of the network with a fresh LoRA or DoRA of peft."""
    import copy

    from peft import LoraConfig, inject_adapter_in_model

    config = LoraConfig(r=RANK, lora_alpha=ALPHA, target_modules=["0"], use_dora=dora)
    made = inject_adapter_in_model(config, nn.Sequential(copy.deepcopy(network[0])))
    return made, made[0]


@pytest.mark.requires_package("peft")
@pytest.mark.parametrize("kind", [LoraLayer, DoraLayer])
def test_output_and_gradients_are_those_of_peft(case, kind):
    network, x = case
    layer = shaken(kind(network, "0", LayerSettings(rank=RANK, alpha=ALPHA, seed=0)))
    theirs, wrapped = in_peft(network, dora=kind is DoraLayer)
    parts = {"down": wrapped.lora_A["default"].weight, "up": wrapped.lora_B["default"].weight}
    if kind is DoraLayer:
        fresh = kind(network, "0", LayerSettings(rank=RANK, alpha=ALPHA, seed=0)).parts["magnitude"]
        parts["magnitude"] = wrapped.lora_magnitude_vector["default"].weight
        torch.testing.assert_close(parts["magnitude"].flatten(), fresh, rtol=1e-6, atol=0)
    for name, parameter in parts.items():
        parameter.data = layer.parts[name].data.reshape(parameter.shape).clone()
    mine = layer.added(network[0], x, network(x))
    expected = theirs(x)
    torch.testing.assert_close(mine, expected, rtol=1e-5, atol=1e-5)
    own, other = learned(mine, layer.parts), learned(expected, parts)
    for name, gradient in own.items():
        torch.testing.assert_close(gradient, other[name].reshape(gradient.shape), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("kind", [LoraLayer, DoraLayer, LokrLayer])
def test_the_output_is_that_of_the_changed_weight(case, kind):
    """By the definitions: W + s B A; m (W + s B A) / ||W + s B A||; W + s A (x) B."""
    network, x = case
    layer = shaken(kind(network, "0", LayerSettings(rank=2, alpha=3.0, seed=0, factor=2)))
    weight = network[0].weight.double()
    if kind is LokrLayer:
        parts = {name: each.double() for name, each in layer.parts.items()}
        right = parts["lokr_w2"] if "lokr_w2" in parts else parts["lokr_w2_a"] @ parts["lokr_w2_b"]
        scale = 1.0 if "lokr_w2" in parts else 1.5
        left = parts["lokr_w1"].reshape(*parts["lokr_w1"].shape, *(1,) * (weight.ndim - 2))
        right = right.reshape(weight.shape[0] // left.shape[0], weight.shape[1] // left.shape[1], *weight.shape[2:])
        changed = weight + scale * torch.kron(left, right)
    else:
        down, up = layer.parts["down"].double(), layer.parts["up"].double().flatten(1)
        changed = weight + 1.5 * torch.einsum("nr,r...->n...", up, down)
    if kind is DoraLayer:
        norms = changed.flatten(1).norm(dim=1)
        changed = changed * (layer.parts["magnitude"] / norms).view(-1, *(1,) * (weight.ndim - 1))
    whole = nn.Sequential(network[0]).double()
    whole[0].weight.data = changed.detach()
    expected = whole(x.double())
    network.float()
    network[0].weight.data = weight.float()
    torch.testing.assert_close(layer.added(network[0], x, network(x)).double(), expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("scheme", [Int8(dynamic=False), Nf4()])
def test_a_dora_beside_a_quantized_weight_has_the_norms_of_what_that_stands_for(scheme):
    torch.manual_seed(0)
    plain = nn.Linear(128, 64)
    quantized = QuantizedLinear(scheme, (64, 128), plain.bias)
    quantized.set_tensors(scheme.quantize(plain.weight.detach()))
    network, x = nn.Sequential(quantized), torch.randn(2, 128)
    layer = DoraLayer(network, "0", LayerSettings(rank=RANK, alpha=ALPHA, seed=0))
    weight = quantized.weight.dequantized(torch.float32)
    torch.testing.assert_close(layer.parts["magnitude"].detach(), weight.norm(dim=1), rtol=1e-6, atol=0)
    assert torch.equal(layer.added(quantized, x, network(x)), network(x))  # fresh ones change nothing
    shaken(layer)
    dense = nn.Linear(128, 64)
    dense.weight.data, dense.bias.data = weight, plain.bias.data
    same = DoraLayer(nn.Sequential(dense), "0", LayerSettings(rank=RANK, alpha=ALPHA, seed=0))
    for name, parameter in same.parts.items():
        parameter.data = layer.parts[name].data
    expected = same.added(dense, x, dense(x))
    torch.testing.assert_close(layer.added(quantized, x, network(x)), expected, rtol=1e-4, atol=1e-4)
    assert all(each is not None for each in learned(layer.added(quantized, x, network(x)), layer.parts).values())


@given(st.integers(1, 4096), st.sampled_from([-1, 1, 2, 4, 8, 16, 17]))
def test_factors_of_a_size(size, factor):
    small, large = factorized(size, factor)
    assert small * large == size and small <= large
    if factor > 0 and size % factor:
        assert small <= factor


def test_factors_are_those_of_lycoris():
    """From the table in its documentation (lycoris/functional/general.py)."""
    sizes = {
        127: [(1, 127)] * 5,
        128: [(8, 16), (2, 64), (4, 32), (8, 16), (8, 16)],
        250: [(10, 25), (2, 125), (2, 125), (5, 50), (10, 25)],
        360: [(18, 20), (2, 180), (4, 90), (8, 45), (15, 24)],
        1024: [(32, 32), (2, 512), (4, 256), (8, 128), (16, 64)],
    }
    for size, expected in sizes.items():
        assert [factorized(size, factor) for factor in (-1, 2, 4, 8, 16)] == expected
