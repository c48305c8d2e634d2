"""Low-rank branches of convolutions, and the gradient of what is convolved."""

from collections.abc import Sequence
from typing import Protocol

import torch
from torch import Tensor
from torch.nn import functional
from torch.nn.grad import conv2d_input

from mezzotint.quantization.int8 import quantize_rows
from mezzotint.quantization.linear import Branch, QuantizedWeight, join_branches


class ConvGeometry(Protocol):
    """The geometry of a convolution."""

    stride: tuple[int, ...]
    dilation: tuple[int, ...]
    groups: int

    @property
    def padding(self) -> str | tuple[int, ...]:
        """Zero padding in pixels, or a padding mode such as `same`."""


class ConvolutionKernels(Protocol):
    """Kernels that can convolve instead of torch."""

    def convolved(
        self, x: Tensor, weight: QuantizedWeight, bias: Tensor | None, geometry: ConvGeometry
    ) -> Tensor | None:
        """x, rounded pixel by pixel, convolved with the weight, plus bias; None if torch must compute it."""


def convolved(y: Tensor, x: Tensor, branches: Sequence[Branch], geometry: ConvGeometry) -> Tensor:
    """Add the branches' convolution of x `(b, c, h, w)` to y `(b, n, h', w')`."""
    branch = join_branches(branches)
    if branch is None:
        return y
    padding = geometry.padding if isinstance(geometry.padding, str) else list(geometry.padding)
    thin = functional.conv2d(x, branch.down.to(x.dtype), None, geometry.stride, padding, geometry.dilation)
    return y + functional.conv2d(thin, branch.up.to(x.dtype))


def rounded_pixels(x: Tensor) -> Tensor:
    """x `(b, c, h, w)` with each pixel rounded to 8 bits, as by the kernels: its largest magnitude becomes 127."""
    codes, scales = quantize_rows(x.permute(0, 2, 3, 1))
    return (codes * scales).permute(0, 3, 1, 2).to(x.dtype)


def input_gradient(gradient: Tensor, weight: Tensor, shape: torch.Size, geometry: ConvGeometry) -> Tensor:
    """Return the gradient of a convolution's input of this shape, `(b, c, h, w)`, given that of its output."""
    if geometry.padding != "same":
        padding = (0, 0) if geometry.padding == "valid" else geometry.padding
        return _gradient(gradient, weight, shape, geometry, padding)
    around = [step * (size - 1) for step, size in zip(geometry.dilation, weight.shape[2:], strict=True)]
    padded = torch.Size((*shape[:2], *(size + extra for size, extra in zip(shape[2:], around, strict=True))))
    whole = _gradient(gradient, weight, padded, geometry, (0, 0))
    top, left = (extra // 2 for extra in around)
    return whole[..., top : top + shape[2], left : left + shape[3]]


def _gradient(
    gradient: Tensor, weight: Tensor, shape: torch.Size, geometry: ConvGeometry, padding: str | tuple[int, ...]
) -> Tensor:
    return conv2d_input(  # type: ignore[no-any-return, no-untyped-call]
        shape, weight, gradient, geometry.stride, padding, geometry.dilation, geometry.groups
    )
