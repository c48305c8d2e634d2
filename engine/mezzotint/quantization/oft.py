"""OFT: a weight whose outputs or inputs are rotated block by block (arXiv 2306.07280)."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import torch
from torch import Tensor


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Rotation:
    """An OFT: `scale` times the difference that rotating its outputs or inputs makes to a weight.

    blocks: `(b, m, m)`, the matrices that multiply b groups of m outputs or inputs (of a convolution: those of its
    window), less the identity. A single one is for all groups.
    """

    blocks: Tensor
    of_inputs: bool
    scale: float = 1.0

    @property
    def factors(self) -> tuple[Tensor, ...]:
        """All tensors."""
        return (self.blocks,)

    @property
    def joined_rows(self) -> int:
        """Number of a weight's rows that become mixtures of one another."""
        return 1 if self.of_inputs else self.blocks.shape[1]

    def map_factors(self, convert: Callable[[Tensor], Tensor]) -> "Rotation":
        """Return a copy with `convert` applied to the blocks."""
        return replace(self, blocks=convert(self.blocks))

    def add_rows(self, total: Tensor, rows: slice, base: Tensor) -> None:
        """Add the difference of these rows, which are whole groups, to `total`, given those of the flattened weight."""
        if self.of_inputs:
            total.add_(self._of_weight(base))
            return
        size = self.blocks.shape[1]
        first, groups = rows.start // size, len(base) // size
        changed = self.blocks[first : first + groups] @ base.view(groups, size, -1)
        total.add_(changed.view_as(total), alpha=self.scale)

    def change(self, x: Tensor) -> Tensor:
        """What is added to outputs or inputs x `(..., b * m)`."""
        parts = x.reshape(*x.shape[:-1], -1, self.blocks.shape[1])
        blocks = self.blocks.to(x.dtype).expand(parts.shape[-2], -1, -1)
        return torch.einsum("bij,...bj->...bi", blocks, parts).flatten(-2) * self.scale

    def change_of_weight(self, weight: Tensor) -> Tensor:
        """What rotating its inputs adds to a weight `(n, ...)`."""
        return self._of_weight(weight.flatten(1)).view_as(weight)

    def _of_weight(self, rows: Tensor) -> Tensor:
        """The transpose of `change`: (W B) x = W (B x)."""
        return replace(self, blocks=self.blocks.mT).change(rows)
