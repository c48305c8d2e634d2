"""Self-test of convolutions with 8-bit inputs on a device: layers of U-Nets against torch, in under a second."""

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from mezzotint.dispatch.self_test import SelfTest, deviation, run_cases
from mezzotint.quantization.convolution import rounded_pixels
from mezzotint.quantization.formats import Int8
from mezzotint.quantization.layers import QuantizedConv2d
from mezzotint.quantization.products.products import Convolve

_TURNED = 0.01  # of the largest output: what a few values rounded the other way may change


@dataclass(frozen=True, slots=True, kw_only=True)
class ConvolutionCase:
    """A layer that occurs in U-Nets, of a small image."""

    name: str
    channels: int
    outputs: int
    height: int
    width: int
    stride: int = 1
    batch: int = 1


CASES = (
    ConvolutionCase(name="a convolution", channels=320, outputs=320, height=12, width=11, batch=2),
    ConvolutionCase(name="a wide convolution", channels=1280, outputs=640, height=3, width=5),
    ConvolutionCase(name="a convolution with a stride of 2", channels=64, outputs=136, height=9, width=14, stride=2),
)


def run_convolution_self_test(kernels: Convolve, device: torch.device, dtype: torch.dtype) -> SelfTest:
    """Run every case that the device has a kernel for; stops at the first failure."""

    def problem_of(case: ConvolutionCase, seed: int) -> str | None:
        x, layer = convolution_of(case, seed, device, dtype)
        out = kernels(x, layer.weight, layer.bias, layer).float()
        weight, bias = layer.weight.dequantized(torch.float32), layer.bias
        exact = nn.functional.conv2d(rounded_pixels(x.float()), weight, None, layer.stride, layer.padding)
        exact = exact if bias is None else exact + bias.float().view(-1, 1, 1)
        allowed = float(exact.abs().max()) * (2 * torch.finfo(dtype).eps + _TURNED)
        return deviation(out, float((out - exact).abs().max()), allowed, "torch")

    return run_cases(CASES, problem_of)


def convolution_of(
    case: ConvolutionCase, seed: int, device: torch.device, dtype: torch.dtype
) -> tuple[Tensor, QuantizedConv2d]:
    """Draw x `(b, c, h, w)` in channels_last, and a layer for it."""
    generator = torch.Generator().manual_seed(seed)
    plain = nn.Conv2d(case.channels, case.outputs, 3, case.stride, padding=1, device="meta")
    format_ = Int8(dynamic=False, pixels=True)
    layer = QuantizedConv2d(format_, plain)
    drawn = torch.randn(layer.shape, generator=generator) / (9 * case.channels) ** 0.5
    layer.set_tensors({name: each.to(device) for name, each in format_.quantize(drawn).items()})
    layer.bias = torch.randn(case.outputs, generator=generator).to(device, dtype)
    x = torch.randn(case.batch, case.channels, case.height, case.width, generator=generator)
    return x.to(device, dtype).contiguous(memory_format=torch.channels_last), layer
