"""Quantized replacements for torch's linear and convolution layers, and how they take their place in a network."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import torch
from torch import Tensor, nn
from torch.nn import functional

from mezzotint.quantization.block_floats import Mxfp8, Nvfp4
from mezzotint.quantization.convolution import ConvolutionKernels, convolved, input_gradient, rounded_pixels
from mezzotint.quantization.dora import Dora
from mezzotint.quantization.formats import Format, Int8
from mezzotint.quantization.fp8 import quantizes_inputs
from mezzotint.quantization.linear import (
    Branch,
    Kernels,
    QuantizedWeight,
    differentiable,
    join_branches,
    linear,
    wants_gradients,
    with_branch,
)
from mezzotint.quantization.lycoris import Kronecker
from mezzotint.quantization.policy import LayerShape
from mezzotint.quantization.transform import Transform

Beside: TypeAlias = Branch | Kronecker | Dora | Transform  # of DoRAs, those with Kronecker products
_PREFIX = "quantized_"


def buffer_name(layer: str, tensor: str) -> str:
    """Buffer name of a quantized layer's tensor in its network."""
    return f"{layer}.{_PREFIX}{tensor}"


class QuantizedLayer(nn.Module):
    """Weight and bias as buffers: the tensors of a format, named `quantized_<name>`, and `bias`."""

    bias: Tensor | None

    def __init__(self, format_: Format, shape: tuple[int, ...], bias: Tensor | None) -> None:
        super().__init__()
        self.format = format_
        self.shape = torch.Size(shape)
        self.branches: tuple[Beside, ...] = ()
        for name, tensor in format_.part_specs(shape).items():
            empty = torch.empty(tensor.shape, dtype=tensor.dtype, device="meta")
            self.register_buffer(_PREFIX + name, empty)
        self.register_buffer("bias", None if bias is None else bias.detach())

    def set_tensors(self, tensors: Mapping[str, Tensor]) -> None:
        """Set the format's tensors."""
        for name, tensor in tensors.items():
            self.register_buffer(_PREFIX + name, tensor)

    @property
    def weight(self) -> QuantizedWeight:
        """The weight for `linear`; not a Tensor, which models check before they look at its dtype."""
        tensors = {name: self.get_buffer(_PREFIX + name) for name in self.format.part_specs(self.shape)}
        return QuantizedWeight(format=self.format, tensors=tensors, shape=self.shape)


class QuantizedLinear(QuantizedLayer):
    """Quantized nn.Linear."""

    products: Kernels | None = None  # kernels for the products while a job runs; None: torch

    @property
    def has_integer_products(self) -> bool:
        """Whether x is quantized too."""
        return quantizes_inputs(self.format)

    @property
    def has_block_scaled_products(self) -> bool:
        """Whether kernels may quantize x too, to the weight's block-scaled format."""
        return isinstance(self.format, Mxfp8 | Nvfp4) and self.format.dynamic

    @property
    def in_features(self) -> int:
        """Same as in nn.Linear."""
        return self.shape[1]

    @property
    def out_features(self) -> int:
        """Same as in nn.Linear."""
        return self.shape[0]

    def forward(self, x: Tensor) -> Tensor:
        """Map x `(..., k)` to `(..., n)`."""
        low_rank, kroneckers, transform = _split(self.branches)
        if transform is None:
            y = linear(x, self.weight, self.bias, low_rank, self.products)
        else:
            y = transform.product(x, lambda x: linear(x, self.weight, kernels=self.products))
            y = with_branch(y if self.bias is None else y + self.bias, x, join_branches(low_rank))
        for each in kroneckers:
            y = y + each.apply(x)
        return y


class QuantizedConv2d(QuantizedLayer):
    """Quantized nn.Conv2d: stored in 8 bits; computed in x's dtype, or with x rounded to 8 bits, too."""

    products: ConvolutionKernels | None = None  # kernels for rounded inputs while a job runs; None: torch

    def __init__(self, format_: Format, convolution: nn.Conv2d) -> None:
        super().__init__(format_, tuple(convolution.weight.shape), convolution.bias)
        self.stride, self.padding = convolution.stride, convolution.padding
        self.dilation, self.groups = convolution.dilation, convolution.groups

    @property
    def has_integer_products(self) -> bool:
        """Whether x is quantized too."""
        return isinstance(self.format, Int8) and self.format.pixels

    def forward(self, x: Tensor) -> Tensor:
        """Convolve x `(b, c, h, w)`."""
        low_rank, kroneckers, transform = _split(self.branches)
        if transform is None:
            y = self._integers(x) if self.has_integer_products else None
            y = self._base(x, self.weight.dequantized(x.dtype), self.bias) if y is None else y
        else:
            y = transform.convolved(x, self.weight.dequantized(x.dtype), self._base, self._convolve)
            y = y if self.bias is None else y + self.bias.view(-1, 1, 1)
        y = convolved(y, x, low_rank, self)
        for each in kroneckers:
            y = y + each.convolved(x, self)
        return y

    def _integers(self, x: Tensor) -> Tensor | None:
        """Convolve x rounded to 8 bits; None if gradients are required."""
        if wants_gradients(x, self.bias, None):
            return None
        made = None if self.products is None else self.products.convolved(x, self.weight, self.bias, self)
        return self._convolve(rounded_pixels(x), self.weight.dequantized(x.dtype), self.bias) if made is None else made

    def _base(self, x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
        """Convolve with the dequantized weight; not even that is saved for the backward pass."""
        if not wants_gradients(x, bias, None):
            return self._convolve(x, weight, bias)
        quantized, shape = self.weight, x.shape
        y = differentiable(
            x,
            quantized,
            lambda x: self._convolve(x, weight.to(x.dtype)),
            lambda gradient: input_gradient(gradient, quantized.dequantized(gradient.dtype), shape, self),
        )
        return y if bias is None else y + bias.view(-1, 1, 1)

    def _convolve(self, x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
        return functional.conv2d(x, weight, bias, self.stride, self.padding, self.dilation, self.groups)


def _split(branches: Sequence[Beside]) -> tuple[list[Branch], list[Kronecker | Dora], Transform | None]:
    low_rank = [each for each in branches if isinstance(each, Branch)]
    kroneckers = [each for each in branches if isinstance(each, Kronecker | Dora)]
    return low_rank, kroneckers, next((each for each in branches if isinstance(each, Transform)), None)


def layers_of(network: nn.Module) -> tuple[LayerShape, ...]:
    """Quantizable layers: linear layers and two-dimensional convolutions, in the network's order."""
    return tuple(
        LayerShape(name=name, shape=tuple(module.weight.shape))
        for name, module in network.named_modules()
        if type(module) is nn.Linear or (type(module) is nn.Conv2d and module.padding_mode == "zeros")
    )


def swap_in(network: nn.Module, formats: Mapping[str, Format]) -> None:
    """Replace each named layer by an empty quantized one with the same bias."""
    for name, format_ in formats.items():
        old = network.get_submodule(name)
        parent, _, child = name.rpartition(".")
        setattr(network.get_submodule(parent), child, _quantized(old, format_))


def quantized_layers(network: nn.Module) -> Iterator[tuple[str, QuantizedLayer]]:
    """Quantized layers of a network, by name."""
    return ((name, module) for name, module in network.named_modules() if isinstance(module, QuantizedLayer))


def _quantized(old: Any, format_: Format) -> QuantizedLayer:  # noqa: ANN401  a linear layer or a convolution
    if isinstance(old, nn.Conv2d):
        return QuantizedConv2d(format_, old)
    bias = None if old.bias is None else old.bias.detach()
    return QuantizedLinear(format_, tuple(old.weight.shape), bias)
