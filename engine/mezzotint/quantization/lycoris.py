"""LoHa and LoKr updates, applied without materializing a full weight, and whole ones (LyCORIS, arXiv 2309.14859)."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeAlias

import torch
from torch import Tensor
from torch.nn import functional

from mezzotint.quantization.convolution import ConvGeometry
from mezzotint.quantization.linear import Branch


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Hadamard:
    """A LoHa's update: `scale (ups[0] downs[0]) * (ups[1] downs[1])`, with ups `(n, r)` and downs `(r, ...)`."""

    ups: tuple[Tensor, Tensor]
    downs: tuple[Tensor, Tensor]
    scale: float = 1.0

    @property
    def factors(self) -> tuple[Tensor, ...]:
        """All factor tensors."""
        return (*self.ups, *self.downs)

    def map_factors(self, convert: Callable[[Tensor], Tensor]) -> "Hadamard":
        """Return a copy with `convert` applied to all factors."""
        (a, b), (c, d) = self.ups, self.downs
        return replace(self, ups=(convert(a), convert(b)), downs=(convert(c), convert(d)))

    def select_rows(self, select: Callable[[Tensor], Tensor]) -> "Hadamard":
        """Return the update for the rows of the weight that `select` selects."""
        return replace(self, ups=(select(self.ups[0]), select(self.ups[1])))

    def add_rows(self, total: Tensor, rows: slice) -> None:
        """Add the update of these rows to `total`, the rows of a flattened weight."""
        first, second = (up[rows] @ down.flatten(1) for up, down in zip(self.ups, self.downs, strict=True))
        total.add_(first.mul_(second), alpha=self.scale)

    def as_branch(self) -> Branch:
        """Return an equivalent branch, of rank `r * r`, or of the weight's rows or columns if those are fewer."""
        n, (r1, r2) = len(self.ups[0]), (len(down) for down in self.downs)
        shape = self.downs[0].shape[1:]
        columns = shape.numel()
        if r1 * r2 < min(n, columns):
            up = (self.ups[0][:, :, None] * self.ups[1][:, None, :]).flatten(1)
            down = (self.downs[0].flatten(1)[:, None] * self.downs[1].flatten(1)[None]).flatten(0, 1)
        else:
            whole = torch.mul(*(up @ down.flatten(1) for up, down in zip(self.ups, self.downs, strict=True)))
            same = torch.eye(min(n, columns), dtype=whole.dtype, device=whole.device)
            up, down = (whole, same) if columns <= n else (same, whole)
        window = (1,) * (len(shape) - 1)
        return Branch(down=down.reshape(-1, *shape), up=up.reshape(*up.shape, *window), scale=self.scale)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Kronecker:
    """A LoKr's update: `scale` times the Kronecker product of left `(a, b)` and right `(m, p)` or `(m, p, kh, kw)`.

    `rows`: indices of the product's rows that the weight has; None: all of them in order.
    """

    left: Tensor
    right: Tensor
    rows: Tensor | None = None
    scale: float = 1.0

    @property
    def factors(self) -> tuple[Tensor, ...]:
        """All factor tensors."""
        return (self.left, self.right) if self.rows is None else (self.left, self.right, self.rows)

    def map_factors(self, convert: Callable[[Tensor], Tensor]) -> "Kronecker":
        """Return a copy with `convert` applied to the factors; `rows` only changes device: indices stay integers."""
        left = convert(self.left)
        rows = None if self.rows is None else self.rows.to(left.device)
        return replace(self, left=left, right=convert(self.right), rows=rows)

    def select_rows(self, select: Callable[[Tensor], Tensor]) -> "Kronecker":
        """Return the update for the rows of the weight that `select` selects."""
        return replace(self, rows=select(torch.arange(len(self.left) * len(self.right), device=self.left.device)))

    def add_rows(self, total: Tensor, rows: slice) -> None:
        """Add the update of these rows to `total`, the rows of a flattened weight."""
        stop = min(rows.stop, rows.start + len(total))
        chosen = torch.arange(rows.start, stop, device=total.device) if self.rows is None else self.rows[rows]
        left, right = self.left[chosen // len(self.right)], self.right.flatten(1)[chosen % len(self.right)]
        total.add_((left[:, :, None] * right[:, None, :]).flatten(1), alpha=self.scale)

    def apply(self, x: Tensor) -> Tensor:
        """Map x `(..., b * p)` to `(..., n)`."""
        parts = x.reshape(*x.shape[:-1], self.left.shape[1], -1)
        parts = functional.linear(parts, self.right.to(x.dtype))  # (..., b, m)
        return self._chosen((self.left.to(x.dtype) @ parts).flatten(-2) * self.scale, -1)

    def convolved(self, x: Tensor, geometry: ConvGeometry) -> Tensor:
        """Map x `(i, b * p, h, w)` to `(i, n, h', w')`."""
        images, b = len(x), self.left.shape[1]
        padding = geometry.padding if isinstance(geometry.padding, str) else list(geometry.padding)
        parts = x.reshape(images * b, -1, *x.shape[2:])
        parts = functional.conv2d(parts, self.right.to(x.dtype), None, geometry.stride, padding, geometry.dilation)
        mixed = torch.einsum("ab,ibmhw->iamhw", self.left.to(x.dtype), parts.reshape(images, b, *parts.shape[1:]))
        return self._chosen(mixed.flatten(1, 2) * self.scale, 1)

    def _chosen(self, y: Tensor, dim: int) -> Tensor:
        return y if self.rows is None else y.index_select(dim, self.rows)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Difference:
    """An update of `scale` times `whole`, of the weight's shape: `(n, ...)`, or `(n)` of biases and norms."""

    whole: Tensor
    scale: float = 1.0

    @property
    def factors(self) -> tuple[Tensor, ...]:
        """The tensor."""
        return (self.whole,)

    def map_factors(self, convert: Callable[[Tensor], Tensor]) -> "Difference":
        """Return a copy with `convert` applied to the tensor."""
        return replace(self, whole=convert(self.whole))

    def select_rows(self, select: Callable[[Tensor], Tensor]) -> "Difference":
        """Return the update for the rows of the weight that `select` selects."""
        return replace(self, whole=select(self.whole))

    def add_rows(self, total: Tensor, rows: slice) -> None:
        """Add the update of these rows to `total`, the rows of a flattened weight."""
        total.add_(self.whole[rows].reshape(total.shape), alpha=self.scale)

    def as_branch(self) -> Branch:
        """Return an equivalent branch, whose rank is the number of the weight's rows or columns."""
        rows, shape = self.whole.flatten(1), self.whole.shape[1:]
        same = torch.eye(min(rows.shape), dtype=rows.dtype, device=rows.device)
        up, down = (rows, same) if rows.shape[1] <= len(rows) else (same, rows)
        window = (1,) * (len(shape) - 1)
        return Branch(down=down.reshape(-1, *shape), up=up.reshape(*up.shape, *window), scale=self.scale)


Update: TypeAlias = Branch | Hadamard | Kronecker | Difference
