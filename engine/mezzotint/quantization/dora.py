"""DoRA: a weight and its update, rescaled to learned magnitudes (arXiv 2402.09353).

With base weight W, update D, magnitudes m and norms of the rows (in some files: of the inputs) of W + D, the new weight
is W' = m / norm * (W + D). A strength s gives W + s (W' - W); of several, each is computed from W, and the differences
are added.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from mezzotint.quantization.convolution import ConvGeometry
from mezzotint.quantization.linear import Branch
from mezzotint.quantization.lycoris import Difference, Hadamard, Kronecker, Update

_CHUNK = 2**22  # numbers of a weight whose squares are summed at a time


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Dora:
    """A DoRA: `scale` times the difference of `gain * (weight + update)` and the weight.

    gain: `(n, 1)` for the rows of the weight, `(1, c)` for its inputs.
    """

    update: Update
    gain: Tensor
    scale: float = 1.0

    @property
    def factors(self) -> tuple[Tensor, ...]:
        """All tensors."""
        return (*self.update.factors, self.gain)

    @property
    def is_by_row(self) -> bool:
        """Whether rows are rescaled, rather than inputs."""
        return self.gain.shape[1] == 1

    def map_factors(self, convert: Callable[[Tensor], Tensor]) -> "Dora":
        """Return a copy with `convert` applied to all tensors."""
        return replace(self, update=self.update.map_factors(convert), gain=convert(self.gain))

    def add_rows(self, total: Tensor, rows: slice, base: Tensor) -> None:
        """Add the difference of these rows to `total`, given those of the flattened base weight."""
        changed = base.clone()
        self.update.add_rows(changed, rows)
        if self.is_by_row:
            changed.mul_(self.gain[rows])
        else:
            _by_input(changed, self.gain.shape[1]).mul_(self.gain[..., None])
        total.add_(changed.sub_(base), alpha=self.scale)

    def scaled_update(self) -> Branch | None:
        """What is added to the rescaled base weight, as a branch; None for a Kronecker product."""
        if isinstance(self.update, Kronecker):
            return None
        branch = self.update.as_branch() if isinstance(self.update, Hadamard | Difference) else self.update
        branch = replace(branch, scale=branch.scale * self.scale)
        if self.is_by_row:
            return replace(branch, up=_scaled(branch.up, self.gain))
        return replace(branch, down=_scaled(branch.down, self.gain))

    def apply(self, x: Tensor) -> Tensor:
        """Map x `(..., k)` to `(..., n)` by the rescaled Kronecker product, without the base weight."""
        return self._around(x, self._kronecker.apply, 1)

    def convolved(self, x: Tensor, geometry: ConvGeometry) -> Tensor:
        """Map x `(i, c, h, w)` to `(i, n, h', w')` likewise."""
        return self._around(x, lambda x: self._kronecker.convolved(x, geometry), 3)

    @property
    def _kronecker(self) -> Kronecker:
        if not isinstance(self.update, Kronecker):
            raise TypeError(f"a {type(self.update).__name__} is joined with other branches")
        return replace(self.update, scale=self.update.scale * self.scale)

    def _around(self, x: Tensor, product: Callable[[Tensor], Tensor], sides: int) -> Tensor:
        gain = self.gain.reshape(-1, *(1,) * (sides - 1)).to(x.dtype)
        return product(x) * gain if self.is_by_row else product(x * gain)


def has_kronecker(delta: Update | Dora) -> bool:
    """Whether its update is a Kronecker product, which is no branch."""
    return isinstance(delta.update if isinstance(delta, Dora) else delta, Kronecker)


def row_squares(weight: Tensor, update: Update, device: torch.device | None = None) -> Tensor:
    """Squared norms `(n, 1)` of the rows of a weight `(n, ...)` with its update.

    Computed in float32, some rows at a time, on the device, or where the weight is.
    """
    return torch.cat([part.square().sum(1, keepdim=True) for part in _updated(weight, update, device)])


def input_squares(weight: Tensor, update: Update, device: torch.device | None = None) -> Tensor:
    """Squared norms `(1, c)` of the inputs of a weight `(n, c, ...)` with its update, likewise."""
    inputs = weight.shape[1]
    parts = (_by_input(part, inputs).square().sum((0, 2)) for part in _updated(weight, update, device))
    return torch.stack(list(parts)).sum(0)[None]


def _updated(weight: Tensor, update: Update, device: torch.device | None) -> Iterator[Tensor]:
    """Rows `(some, k)` of a weight with its update."""
    where = weight.device if device is None else device
    exact = update.map_factors(lambda factor: factor.to(where, torch.float32))
    step = max(1, _CHUNK // max(1, weight[0].numel()))
    for start in range(0, len(weight), step):
        part = weight[start : start + step].to(where, torch.float32, copy=True).flatten(1)
        exact.add_rows(part, slice(start, start + step))
        yield part


def _by_input(rows: Tensor, inputs: int) -> Tensor:
    """View rows `(some, k)` as `(some, c, window)`."""
    return rows.view(len(rows), inputs, -1)


def _scaled(factor: Tensor, gain: Tensor) -> Tensor:
    """A factor with its rows or inputs scaled, in its own dtype."""
    return (factor.float() * gain.view(*gain.shape, *(1,) * (factor.ndim - 2))).to(factor.dtype)
