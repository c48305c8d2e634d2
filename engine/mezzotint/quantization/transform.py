"""What DoRAs and OFTs do to a base weight: beside it, its inputs and outputs are scaled and rotated.

Each adapter's difference is that from the base weight without the others, and the differences are added.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TypeAlias

import torch
from torch import Tensor

from mezzotint.quantization.dora import Dora
from mezzotint.quantization.lycoris import Update
from mezzotint.quantization.oft import Rotation

FromBase: TypeAlias = Dora | Rotation  # differences that depend on the base weight
Delta: TypeAlias = Update | FromBase
Convolve: TypeAlias = Callable[[Tensor, Tensor], Tensor]  # x and a weight


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """What is added to inputs or outputs x: `factors` `(c)` times x, and the rotations' changes."""

    factors: Tensor | None
    rotations: tuple[Rotation, ...]

    def __bool__(self) -> bool:
        return self.factors is not None or bool(self.rotations)

    def changed(self, x: Tensor, dim: int) -> Tensor:
        """Return x with everything added; its channels are in dimension `dim`."""
        result = x if self.factors is None else torch.addcmul(x, x, _along(self.factors, x, dim))
        return result + self._rotated(x, dim) if self.rotations else result

    def change(self, x: Tensor, dim: int) -> Tensor:
        """Return what is added."""
        if self.factors is None:
            return self._rotated(x, dim)
        scaled = x * _along(self.factors, x, dim)
        return scaled + self._rotated(x, dim) if self.rotations else scaled

    def _rotated(self, x: Tensor, dim: int) -> Tensor:
        last = x.movedim(dim, -1)
        return reduce(torch.add, (each.change(last) for each in self.rotations)).movedim(-1, dim)


@dataclass(frozen=True, slots=True, kw_only=True)
class Transform:
    """What several DoRAs and OFTs do to a base weight; `windows` rotate a convolution's inputs with its window."""

    inputs: Side
    outputs: Side
    windows: tuple[Rotation, ...] = ()

    def product(self, x: Tensor, base: Callable[[Tensor], Tensor]) -> Tensor:
        """The transformed weight's product with x `(..., k)`, by the base weight's."""
        return self._around(x, base, -1)

    def convolved(self, x: Tensor, weight: Tensor, base: Convolve, convolve: Convolve) -> Tensor:
        """Convolve x `(i, c, h, w)` with the transformed weight: by `base` with the weight itself."""
        y = self._around(x, lambda x: base(x, weight), 1)
        if not self.windows:
            return y
        return y + convolve(x, reduce(torch.add, (each.change_of_weight(weight) for each in self.windows)))

    def _around(self, x: Tensor, base: Callable[[Tensor], Tensor], dim: int) -> Tensor:
        if not self.outputs:
            return base(self.inputs.changed(x, dim))
        y = self.outputs.changed(base(x), dim)
        return y + base(self.inputs.change(x, dim)) if self.inputs else y


def transform(deltas: Sequence[FromBase], *, convolution: bool) -> Transform | None:
    """What these do to their base weight, apart from low-rank and Kronecker products; None if there are none."""
    if not deltas:
        return None
    rotations = [each for each in deltas if isinstance(each, Rotation)]
    inputs = tuple(each for each in rotations if each.of_inputs)
    return Transform(
        inputs=Side(factors=_factors(deltas, by_row=False), rotations=() if convolution else inputs),
        outputs=Side(
            factors=_factors(deltas, by_row=True), rotations=tuple(each for each in rotations if not each.of_inputs)
        ),
        windows=inputs if convolution else (),
    )


def _factors(deltas: Sequence[FromBase], *, by_row: bool) -> Tensor | None:
    """Sum of the DoRAs' gains less 1, of rows or of inputs."""
    doras = [each for each in deltas if isinstance(each, Dora) and each.is_by_row is by_row]
    parts = [(each.gain.flatten() - 1) * each.scale for each in doras]
    return torch.stack(parts).sum(0) if parts else None


def _along(factors: Tensor, x: Tensor, dim: int) -> Tensor:
    return factors.to(x.dtype).view(-1, *(1,) * (x.ndim - 1 - dim % x.ndim))
