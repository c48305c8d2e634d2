"""Convolutions with 8-bit inputs: what the kernels are told, and what they make of it on the emulator."""

import pytest
import torch
from fake_products import EmulatedProducts, FakeProducts, fake_product_backends
from quantized_weights import relative, seeded
from torch import nn

from mezzotint.dispatch.library import Unsupported
from mezzotint.quantization.convolution import rounded_pixels
from mezzotint.quantization.formats import Int8
from mezzotint.quantization.layers import QuantizedConv2d, swap_in
from mezzotint.quantization.linear import Branch
from mezzotint.quantization.products.convolutions import CompiledConvolution

PIXELS = Int8(dynamic=False, pixels=True)
BF16 = torch.bfloat16


def layer(channels=64, outputs=24, dtype=BF16, **geometry):
    torch.manual_seed(4)
    plain = nn.Conv2d(channels, outputs, 3, **{"padding": 1} | geometry).to(dtype).requires_grad_(False)
    made = QuantizedConv2d(PIXELS, plain)
    made.set_tensors(PIXELS.quantize(plain.weight))
    return made


def image(*shape, dtype=BF16):
    return seeded(*shape).to(dtype).contiguous(memory_format=torch.channels_last)


@pytest.fixture(scope="module")
def emulated():
    """Built here: what many tests share does not count as the first one's time."""
    return EmulatedProducts()


@pytest.mark.requires_command("g++", "sudo apt-get install g++")
@pytest.mark.parametrize(("dtype", "stride", "allowed"), [(torch.float16, 1, 1.5e-3), (BF16, 2, 6e-3)])
def test_the_kernels_give_what_torch_does(emulated, dtype, stride, allowed):
    conv, x = layer(dtype=dtype, stride=stride), image(2, 64, 5, 6, dtype=dtype)
    out = CompiledConvolution(emulated)(x, conv.weight, conv.bias, conv)
    assert out.dtype == dtype and out.is_contiguous(memory_format=torch.channels_last)
    weight, bias = conv.weight.dequantized(torch.float32), conv.bias.float()
    assert relative(out, nn.functional.conv2d(rounded_pixels(x.float()), weight, bias, stride, 1)) < allowed


@pytest.mark.parametrize("laid_out", [False, True])
def test_other_layouts_are_copied(laid_out):
    conv, x = layer(), seeded(1, 64, 4, 5).to(BF16)
    wanted = conv(x)
    if laid_out:
        codes = conv.quantized_weight.contiguous(memory_format=torch.channels_last)
        conv.set_tensors({"weight": codes})
    library = FakeProducts()
    assert relative(CompiledConvolution(library)(x, conv.weight, None, conv), wanted - conv.bias.view(-1, 1, 1)) < 6e-3
    (told,) = library.multiplied
    assert (told.weight == conv.quantized_weight.data_ptr()) == laid_out
    assert (told.rows, told.in_columns, told.image_height, told.image_width, told.image_stride) == (20, 64, 4, 5, 1)


def test_nothing_to_compute():
    conv = layer()
    assert CompiledConvolution(FakeProducts())(image(0, 64, 4, 4), conv.weight, None, conv).shape == (0, 24, 4, 4)


@pytest.mark.parametrize(
    ("geometry", "why"),
    [
        ({"padding": 0}, r"a padding of \(0, 0\)"),
        ({"dilation": 2}, "a dilation"),
        ({"stride": 3}, r"strides \(3, 3\)"),
    ],
)
def test_geometries_without_a_kernel(geometry, why):
    conv = layer(**geometry)
    with pytest.raises(Unsupported, match=why):
        CompiledConvolution(FakeProducts())(image(1, 64, 8, 8), conv.weight, None, conv)


def test_tensors_that_the_kernels_cannot_read():
    conv, kernels = layer(), CompiledConvolution(FakeProducts())
    with pytest.raises(Unsupported, match=r"x is torch\.float32"):
        kernels(image(1, 64, 4, 4, dtype=torch.float32), conv.weight, None, conv)
    with pytest.raises(Unsupported, match=r"bias is torch\.float32"):
        kernels(image(1, 64, 4, 4), conv.weight, conv.bias.float(), conv)
    with pytest.raises(Unsupported, match="x is on meta"):
        kernels(image(1, 64, 4, 4).to("meta"), conv.weight, None, conv)
    with pytest.raises(Unsupported, match="weight is on meta"):
        kernels(image(1, 64, 4, 4), layer().to("meta").weight, None, conv)
    with pytest.raises(ValueError, match="the layer takes 64 channels"):
        kernels(image(1, 128, 4, 4), conv.weight, None, conv)
    moved = torch.empty(conv.quantized_weight.numel() + 1, dtype=torch.int8)[1:].view(24, 3, 3, 64).permute(0, 3, 1, 2)
    conv.set_tensors({"weight": moved})
    with pytest.raises(Unsupported, match="misaligned"):
        kernels(image(1, 64, 4, 4), conv.weight, None, conv)


@torch.inference_mode()
def test_pixels_are_rounded_with_and_without_kernels():
    conv, x = layer(), image(2, 64, 6, 6)
    plain = nn.functional.conv2d(x, conv.weight.dequantized(BF16), conv.bias, padding=1)
    by_torch = conv(x)
    assert 0 < relative(by_torch, plain) < 0.03
    assert (
        relative(by_torch, nn.functional.conv2d(rounded_pixels(x), conv.weight.dequantized(BF16), conv.bias, padding=1))
        == 0
    )
    conv.branches = (Branch(down=seeded(2, 64, 3, 3).to(BF16), up=seeded(24, 2, 1, 1).to(BF16)),)
    added = conv(x)
    assert relative(added, by_torch) > 0.1
    session = fake_product_backends(FakeProducts()).session("cpu", "bfloat16", [nn.Sequential(conv)], print)
    with session.multiplying():
        assert relative(conv(x), added) < 6e-3
    assert (session.calls, session.ran, session.fallbacks) == (1, None, ())
    assert conv.products is None


def test_gradients_are_those_of_unrounded_inputs():
    conv, x = layer(dtype=torch.float32), seeded(1, 64, 4, 4).requires_grad_()
    out = conv(x)
    wanted = nn.functional.conv2d(x, conv.weight.dequantized(torch.float32), conv.bias, padding=1)
    assert relative(out.detach(), wanted.detach()) < 1e-5
    out.sum().backward()
    assert x.grad is not None


def test_kernels_that_fail_are_given_up():
    network, told = nn.Sequential(nn.Conv2d(64, 8, 3, padding=1).to(BF16)).requires_grad_(False), []
    weight = network[0].weight
    swap_in(network, {"0": PIXELS})
    network[0].set_tensors(PIXELS.quantize(weight))
    session = fake_product_backends(FakeProducts("wrong")).session(
        "cpu", "bfloat16", [network], lambda *w: told.append(w)
    )
    with session.multiplying():
        network(image(1, 64, 4, 4))
    assert session.calls == 0 and session.convolutions.used == "torch"
    assert told[0][0] == "products_fell_back" and "the self-test failed at a convolution" in told[0][1]
