"""Low-rank branches of convolutions."""

from collections.abc import Sequence
from typing import Protocol

from torch import Tensor
from torch.nn import functional

from mezzotint.quantization.linear import Branch, join_branches


class ConvGeometry(Protocol):
    """The geometry of a convolution."""

    stride: tuple[int, ...]
    dilation: tuple[int, ...]

    @property
    def padding(self) -> str | tuple[int, ...]:
        """Zero padding in pixels, or a padding mode such as `same`."""


def convolved(y: Tensor, x: Tensor, branches: Sequence[Branch], geometry: ConvGeometry) -> Tensor:
    """Add the branches' convolution of x `(b, c, h, w)` to y `(b, n, h', w')`."""
    branch = join_branches(branches)
    if branch is None:
        return y
    padding = geometry.padding if isinstance(geometry.padding, str) else list(geometry.padding)
    thin = functional.conv2d(x, branch.down.to(x.dtype), None, geometry.stride, padding, geometry.dilation)
    return y + functional.conv2d(thin, branch.up.to(x.dtype))
