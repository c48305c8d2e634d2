"""The linear operation: a weight, quantized or not, with low-rank branches on the unquantized input.

Gradients pass through frozen quantized weights: the backward pass dequantizes again, so nothing is saved for it (QLoRA,
arXiv 2305.14314). Where x is quantized too, its gradient is that of the dequantized weight, as if rounding x changed
nothing (straight-through estimator, arXiv 1308.3432).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

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
        """Return the dequantized weight."""
        return self.format.dequantize(self.tensors, self.shape, dtype)

    @property
    def versions(self) -> tuple[int, ...]:
        """How often each tensor was overwritten: 0 of inference tensors, none in compiled code, which checks it."""
        if torch.compiler.is_compiling():
            return ()
        return tuple(0 if each.is_inference() else each._version for each in self.tensors.values())


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Heads:
    """What becomes of the heads of queries and keys: `norms` of each part, then rotations by position."""

    size: int
    parts: tuple[bool, ...]  # which parts it concerns
    norms: tuple[Tensor | None, ...]  # RMS norm's weight `(size)` of each part; None: 1
    epsilon: float | None  # of the norms; None: there are none
    rotations: Tensor | None = None  # (n, size / 2, 2), float32: cosine and sine of each pair; row r has r modulo n


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class JoinedWeight(QuantizedWeight):
    """Weights of several layers with the same input, whose outputs are joined: n is the sum of theirs."""

    parts: tuple[QuantizedWeight, ...]
    biases: tuple[Tensor | None, ...]
    heads: Heads | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GatedWeight(JoinedWeight):
    """Weights of value and gate of a gated linear unit, whose outputs become one: n is that of either."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Branch:
    """A LoRA's update: `scale up down x`, with down `(r, k)` and up `(n, r)`.

    For a convolution: down `(r, c, kh, kw)`, with the layer's stride and padding, and up `(n, r, 1, 1)`.
    """

    down: Tensor
    up: Tensor
    scale: float = 1.0

    @property
    def factors(self) -> tuple[Tensor, ...]:
        """Down and up."""
        return self.down, self.up

    def map_factors(self, convert: Callable[[Tensor], Tensor]) -> "Branch":
        """Return a copy with `convert` applied to all factors."""
        return replace(self, down=convert(self.down), up=convert(self.up))

    def select_rows(self, select: Callable[[Tensor], Tensor]) -> "Branch":
        """Return the branch for the weight's rows that `select` selects."""
        return replace(self, up=select(self.up))

    def add_rows(self, total: Tensor, rows: slice) -> None:
        """Add the update of these rows to `total`, the rows of a flattened weight."""
        total.addmm_(self.up.flatten(1)[rows], self.down.flatten(1), alpha=self.scale)


class Kernels(Protocol):
    """Kernels that can compute the linear operation instead of torch."""

    def product(self, x: Tensor, weight: QuantizedWeight, bias: Tensor | None, branch: Branch | None) -> Tensor | None:
        """Same as `linear`; None if torch must compute it."""


def linear(
    x: Tensor,
    weight: Tensor | QuantizedWeight,
    bias: Tensor | None = None,
    branches: Sequence[Branch] = (),
    kernels: Kernels | None = None,
) -> Tensor:
    """x `(..., k)` times the transpose of weight `(n, k)`, plus bias `(n)` and branches: `(..., n)`.

    Branches see x as given, never rotated or quantized; several are joined into one product each way.
    """
    branch = join_branches(branches)
    if isinstance(weight, QuantizedWeight):
        if wants_gradients(x, bias, branch):
            y = differentiable(
                x,
                weight,
                lambda x: linear(x, weight, kernels=kernels),
                lambda gradient: gradient @ weight.dequantized(gradient.dtype),
            )
            return with_branch(y if bias is None else y + bias, x, branch)
        if kernels is not None:
            made = kernels.product(x, weight, bias, branch)
            if made is not None:
                return made
        y = weight.format.product(x, weight.tensors, weight.shape)
        y = y if bias is None else y + bias
    else:
        y = functional.linear(x, weight, bias)
    return with_branch(y, x, branch)


def differentiable(
    x: Tensor, weight: QuantizedWeight, product: Callable[[Tensor], Tensor], transposed: Callable[[Tensor], Tensor]
) -> Tensor:
    """Return `product(x)`, which is linear in x; its gradient is `transposed` of the result's.

    Nothing is saved for the backward pass, which raises RuntimeError if the weight was overwritten in the meantime.
    Under autocast, everything is computed in its dtype.
    """
    kind = x.device.type
    if not torch.is_autocast_enabled(kind):
        return _FromWeight.apply(x, weight, product, transposed)  # type: ignore[no-any-return, no-untyped-call]
    x = x.to(torch.get_autocast_dtype(kind))
    with torch.autocast(kind, enabled=False):
        return _FromWeight.apply(x, weight, product, transposed)  # type: ignore[no-any-return, no-untyped-call]


class _FromWeight(torch.autograd.Function):
    """A product whose gradient is computed from the weight's own tensors."""

    @staticmethod
    def forward(
        ctx: Any,  # noqa: ANN401
        x: Tensor,
        weight: QuantizedWeight,
        product: Callable[[Tensor], Tensor],
        transposed: Callable[[Tensor], Tensor],
    ) -> Tensor:
        ctx.weight, ctx.transposed, ctx.versions = weight, transposed, weight.versions
        return product(x)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:  # noqa: ANN401
        if any(before != now for before, now in zip(ctx.versions, ctx.weight.versions, strict=False)):
            raise RuntimeError("a quantized weight was overwritten between the forward and the backward pass")
        return ctx.transposed(gradient), None, None, None


def with_branch(y: Tensor, x: Tensor, branch: Branch | None) -> Tensor:
    """Add a joined branch's product of x `(..., k)` to y `(..., n)`."""
    if branch is None:
        return y
    return y + functional.linear(functional.linear(x, branch.down.to(x.dtype)), branch.up.to(x.dtype))


def wants_gradients(x: Tensor, bias: Tensor | None, branch: Branch | None) -> bool:
    """Whether any of the tensors requires gradients."""
    if not torch.is_grad_enabled():
        return False
    learning = (x, bias, *(() if branch is None else branch.factors))
    return any(each is not None and each.requires_grad for each in learning)


def join_branches(branches: Sequence[Branch]) -> Branch | None:
    """Join a layer's branches into one of scale 1; returns a joined branch unchanged, and None if there are none."""
    if not branches:
        return None
    if len(branches) == 1 and branches[0].scale == 1:
        return branches[0]
    down = torch.cat([branch.down for branch in branches])
    return Branch(down=down, up=torch.cat([branch.up * branch.scale for branch in branches], dim=1))
