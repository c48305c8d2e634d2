"""The linear operation: a weight, quantized or not, with branches of low rank on the input as it comes."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import torch
from torch import Tensor
from torch.nn import functional

from mezzotint.quantization.formats import Format, Tensors


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class QuantizedWeight:
    """A weight `(n, k)` as the tensors of its format."""

    format: Format
    tensors: Tensors
    shape: torch.Size

    def dequantized(self, dtype: torch.dtype) -> Tensor:
        """The weight itself."""
        return self.format.dequantize(self.tensors, self.shape, dtype)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Branch:
    """What a LoRA adds: `scale up down x`, of down `(r, k)` and up `(n, r)`.

    Of a convolution: down `(r, c, kh, kw)`, which walks over the image as that does, and up `(n, r, 1, 1)`.
    """

    down: Tensor
    up: Tensor
    scale: float = 1.0

    @property
    def factors(self) -> tuple[Tensor, ...]:
        """Both."""
        return self.down, self.up

    def moved(self, move: Callable[[Tensor], Tensor]) -> "Branch":
        """The same of other tensors."""
        return replace(self, down=move(self.down), up=move(self.up))

    def taken(self, take: Callable[[Tensor], Tensor]) -> "Branch":
        """That of some rows of the weight."""
        return replace(self, up=take(self.up))

    def add_rows(self, total: Tensor, rows: slice) -> None:
        """Add to these rows of a flat weight."""
        total.addmm_(self.up.flatten(1)[rows], self.down.flatten(1), alpha=self.scale)


class Kernels(Protocol):
    """What may do the operation in the place of torch."""

    def product(self, x: Tensor, weight: QuantizedWeight, bias: Tensor | None, branch: Branch | None) -> Tensor | None:
        """As `linear`; None where torch must do it."""


def linear(
    x: Tensor,
    weight: Tensor | QuantizedWeight,
    bias: Tensor | None = None,
    branches: Sequence[Branch] = (),
    kernels: Kernels | None = None,
) -> Tensor:
    """x `(..., k)` times the transpose of weight `(n, k)`, plus bias `(n)` and what the branches add: `(..., n)`.

    Branches see x as it comes, never rotated or rounded; several are one product each way.
    """
    branch = joined(branches)
    if isinstance(weight, QuantizedWeight):
        if kernels is not None:
            made = kernels.product(x, weight, bias, branch)
            if made is not None:
                return made
        y = weight.format.product(x, weight.tensors, weight.shape)
        y = y if bias is None else y + bias
    else:
        y = functional.linear(x, weight, bias)
    return with_branch(y, x, branch)


def with_branch(y: Tensor, x: Tensor, branch: Branch | None) -> Tensor:
    """y `(..., n)` and what a joined branch makes of x `(..., k)`."""
    if branch is None:
        return y
    return y + functional.linear(functional.linear(x, branch.down.to(x.dtype)), branch.up.to(x.dtype))


def wants_gradients(x: Tensor, bias: Tensor | None, branch: Branch | None) -> bool:
    """Whether anything that is given is to learn."""
    learning = (x, bias, *(() if branch is None else (branch.down, branch.up)))
    return torch.is_grad_enabled() and any(each is not None and each.requires_grad for each in learning)


def joined(branches: Sequence[Branch]) -> Branch | None:
    """The branches of a layer as one of scale 1, which is itself where it was joined before; None: there are none."""
    if not branches:
        return None
    if len(branches) == 1 and branches[0].scale == 1:
        return branches[0]
    down = torch.cat([branch.down for branch in branches])
    return Branch(down=down, up=torch.cat([branch.up * branch.scale for branch in branches], dim=1))
