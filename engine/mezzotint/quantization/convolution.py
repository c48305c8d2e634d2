"""What branches of low rank add to a convolution."""

from collections.abc import Sequence
from typing import Protocol

from torch import Tensor
from torch.nn import functional

from mezzotint.quantization.linear import Branch, joined


class Walk(Protocol):
    """How a convolution walks over an image."""

    stride: tuple[int, ...]
    dilation: tuple[int, ...]

    @property
    def padding(self) -> str | tuple[int, ...]:
        """Zeros around the image, or the name of a rule for them."""


def convolved(y: Tensor, x: Tensor, branches: Sequence[Branch], walk: Walk) -> Tensor:
    """y `(b, n, h', w')`, the convolution of x `(b, c, h, w)`, and what the branches add to it."""
    branch = joined(branches)
    if branch is None:
        return y
    padding = walk.padding if isinstance(walk.padding, str) else list(walk.padding)
    thin = functional.conv2d(x, branch.down.to(x.dtype), None, walk.stride, padding, walk.dilation)
    return y + functional.conv2d(thin, branch.up.to(x.dtype))
