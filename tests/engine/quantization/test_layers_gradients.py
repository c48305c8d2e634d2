"""Gradients through quantized layers and whole networks: those of the dequantized weights, which are never saved."""

import pytest
import torch
from diffusers import PixArtTransformer2DModel
from quantized_weights import relative, seeded
from small_networks import small_networks
from torch import nn
from torch.autograd.graph import saved_tensors_hooks
from torch.nn import functional

from mezzotint.quantization.dora import Dora
from mezzotint.quantization.formats import Int8
from mezzotint.quantization.layers import QuantizedConv2d, layers_of, quantized_layers, swap_in
from mezzotint.quantization.linear import Branch
from mezzotint.quantization.oft import Rotation
from mezzotint.quantization.policy import Choice, formats_for
from mezzotint.quantization.transform import transform


def convolution(padding=1, **geometry):
    """A quantized convolution, and the same with its dequantized weight."""
    torch.manual_seed(0)
    plain = nn.Conv2d(4, 6, 3, padding=padding, **geometry).requires_grad_(requires_grad=False)
    layer = QuantizedConv2d(Int8(dynamic=False), plain)
    layer.set_tensors(layer.format.quantize(plain.weight))
    plain.weight.copy_(layer.weight.dequantized(torch.float32))
    return layer, plain


def saved_by(network, *args, **kwargs):
    """The output, and the tensors saved for the backward pass by memory."""
    saved = {}
    with saved_tensors_hooks(lambda each: saved.setdefault(each.data_ptr(), each), lambda each: each):
        y = network(*args, **kwargs)
    return y, list(saved.values())


@pytest.mark.parametrize("padding", [0, (1, 2), "same", "valid"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_a_convolutions_gradient_is_that_of_the_dequantized_weight(padding, dtype):
    layer, plain = (each.to(dtype) for each in convolution(padding, dilation=2))
    layer.set_tensors({"weight_scale": layer.weight.tensors["weight_scale"].float()})
    plain.weight = nn.Parameter(layer.weight.dequantized(dtype), requires_grad=False)
    x = seeded(2, 4, 9, 8).to(dtype).requires_grad_()
    y, saved = saved_by(layer, x)
    assert saved == []
    gradient = seeded(*y.shape, seed=3).to(dtype)
    (found,), (wanted,) = (torch.autograd.grad(each, x, gradient) for each in (y, plain(x)))
    assert relative(found, wanted) < 4 * torch.finfo(dtype).eps and found.dtype == dtype
    assert relative(y.detach(), layer(x.detach())) < 4 * torch.finfo(dtype).eps


def test_a_convolution_under_autocast():
    layer, plain = convolution()
    x = seeded(2, 4, 9, 8).requires_grad_()
    with torch.autocast("cpu", torch.bfloat16):
        found, wanted = (torch.autograd.grad(each(x).float().square().sum(), x)[0] for each in (layer, plain))
    assert found.dtype == torch.float32 and relative(found, wanted) < 0.02


def test_branches_of_a_convolution_learn():
    layer, plain = convolution(stride=2)
    branch = Branch(down=seeded(2, 4, 3, 3).requires_grad_(), up=seeded(6, 2, 1, 1).requires_grad_(), scale=0.5)
    layer.branches = (branch,)
    x = seeded(2, 4, 9, 8).requires_grad_()
    merged = plain.weight + 0.5 * torch.einsum("nr,rckl->nckl", branch.up[:, :, 0, 0], branch.down)
    wanted = functional.conv2d(x, merged, plain.bias, stride=2, padding=1)
    for one, other in zip(*(gradients(each, x, *branch.factors) for each in (layer(x), wanted)), strict=True):
        torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("of_inputs", [True, False])
def test_doras_and_ofts_pass_gradients_and_learn(of_inputs):
    layer, plain = convolution()
    gain = seeded(*((1, 4) if of_inputs else (6, 1)), seed=4).requires_grad_()
    width = 9 if of_inputs else 3
    blocks = (0.1 * seeded(36 // width if of_inputs else 2, width, width)).requires_grad_()
    update = Branch(down=seeded(1, 4, 3, 3), up=torch.zeros(6, 1, 1, 1))
    dora, rotation = Dora(update=update, gain=gain), Rotation(blocks=blocks, of_inputs=of_inputs)
    layer.branches = (transform([dora, rotation], convolution=True),)
    x = seeded(2, 4, 9, 8).requires_grad_()
    rows = plain.weight.flatten(1)
    scaled = rows * (gain.repeat_interleave(9, dim=1) if of_inputs else gain)
    rotated = rotation.change_of_weight(rows) if of_inputs else rotation.change(rows.T).T
    changed = (scaled + rotated).view_as(plain.weight)
    wanted = functional.conv2d(x, changed, plain.bias, padding=1)
    for one, other in zip(*(gradients(each, x, gain, blocks) for each in (layer(x), wanted)), strict=True):
        torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-3)


def gradients(y, *inputs):
    return torch.autograd.grad(y, inputs, seeded(*y.shape, seed=9).to(y.dtype))


class Dequantized(nn.Module):
    """The layer's product with its dequantized weight, and its value that of the layer, as training wants it."""

    def __init__(self, layer):
        super().__init__()
        self.layer = layer

    def forward(self, x):
        layer, weight = self.layer, self.layer.weight.dequantized(x.dtype)
        if isinstance(layer, QuantizedConv2d):
            y = functional.conv2d(x, weight, layer.bias, layer.stride, layer.padding, layer.dilation)
        else:
            y = functional.linear(x, weight, layer.bias)
        with torch.no_grad():
            off = layer(x) - y
        return y + off


def quantize(network, scheme):
    formats = formats_for(type(network).__name__, layers_of(network), Choice(scheme=scheme))
    weights = {name: network.get_submodule(name).weight.detach().float() for name in formats}
    swap_in(network.requires_grad_(requires_grad=False).eval(), formats)
    for name, layer in quantized_layers(network):
        layer.set_tensors(layer.format.quantize(weights[name]))
    return network


def with_dequantized(network):
    for name, layer in list(quantized_layers(network)):
        parent, _, child = name.rpartition(".")
        setattr(network.get_submodule(parent), child, Dequantized(layer))
    return network


def check_network(network, latents, **inputs):
    """The gradient of the latents, and that nothing as large as a quantized weight of its own is saved."""
    sizes = {tuple(layer.shape) for _, layer in quantized_layers(network)}
    fixed = {each.data_ptr() for each in (*network.parameters(), *network.buffers())}
    y, saved = saved_by(network, latents, **inputs, return_dict=False)
    (found,) = gradients(y[0], latents)
    weights = [each for each in saved if {tuple(each.shape), tuple(reversed(each.shape))} & sizes]
    assert [each.shape for each in weights if each.data_ptr() not in fixed] == []
    quantized = {layer.weight.tensors["weight"].data_ptr() for _, layer in quantized_layers(network)}
    assert quantized.isdisjoint(each.data_ptr() for each in saved)
    (wanted,) = gradients(with_dequantized(network)(latents, **inputs, return_dict=False)[0], latents)
    assert found.abs().max() > 0
    return relative(found, wanted)


@pytest.mark.parametrize("scheme", ["int8", "int8-weight", "int4"])
def test_a_quantized_pixart_is_as_its_dequantized_one(tiny_pixart_folder, scheme):
    network = PixArtTransformer2DModel.from_pretrained(tiny_pixart_folder / "transformer")
    inputs = {"encoder_hidden_states": seeded(2, 5, network.config.caption_channels), "timestep": torch.tensor([3, 9])}
    latents = seeded(2, 4, 10, 14).requires_grad_()
    assert check_network(quantize(network, scheme), latents, **inputs) < 1e-5


def test_a_quantized_unet_too():
    torch.manual_seed(0)
    network = small_networks()["UNet2DConditionModel"]()
    sizes = {"text_embeds": seeded(1, 64), "time_ids": torch.ones(1, 6)}
    inputs = {"encoder_hidden_states": seeded(1, 5, 96), "timestep": torch.tensor([3]), "added_cond_kwargs": sizes}
    latents = seeded(1, 4, 8, 8).requires_grad_()
    assert check_network(quantize(network, "int8"), latents, **inputs) < 1e-5
