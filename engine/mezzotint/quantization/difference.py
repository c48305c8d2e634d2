"""A whole difference of a weight, as LyCORIS's full adapters and extracted LoRAs have beside low-rank ones."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from mezzotint.quantization.linear import Branch


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
