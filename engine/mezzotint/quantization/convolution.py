"""Low-rank branches of convolutions."""

from collections.abc import Sequence
from typing import Protocol

from torch import Tensor
from torch.nn import functional

from mezzotint.quantization.linear import Branch, joined


class Walk(Protocol):
    """The geometry of a convolution."""

    stride: tuple[int, ...]
    dilation: tuple[int, ...]

    @property
    def padding(self) -> str | tuple[int, ...]:
        """Zero padding in pixels, or a padding mode such as `same`."""


def convolved(y: Tensor, x: Tensor, branches: Sequence[Branch], walk: Walk) -> Tensor:
    """Add the branches' convolution of x `(b, c, h, w)` to y `(b, n, h', w')`."""
    branch = joined(branches)
    if branch is None:
        return y
    padding = walk.padding if isinstance(walk.padding, str) else list(walk.padding)
    thin = functional.conv2d(x, branch.down.to(x.dtype), None, walk.stride, padding, walk.dilation)
    return y + functional.conv2d(thin, branch.up.to(x.dtype))
