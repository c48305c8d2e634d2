"""Long skips between blocks, as in U-ViT (arXiv 2209.12152)."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import torch
from torch import Tensor, nn

from mezzotint.families.architectures.table import Skips

Unit: TypeAlias = Callable[..., Tensor]  # a block, or what stands for several: tokens and conditions to tokens


class LongSkips(nn.Module):
    """The output of each of the first blocks is joined to the input of its counterpart among the last.

    Projections begin as if there were no skips. A block and its successor need none.
    """

    def __init__(self, width: int, blocks: int) -> None:
        super().__init__()
        projections = [nn.Linear(2 * width, width) for _ in range((blocks - 1) // 2)]
        for projection in projections:
            nn.init.eye_(projection.weight)
            nn.init.zeros_(projection.bias)
        self.projections = nn.ModuleList(projections)

    def between(self, units: Sequence[Unit]) -> list[Unit]:
        """Return the units with skips, for one forward pass."""
        kept: list[Tensor] = []
        changed = list(units)
        for place, projection in enumerate(self.projections):
            changed[place] = _keeping(units[place], kept)
            changed[-1 - place] = _joining(units[-1 - place], kept, projection)
        return changed


def _keeping(unit: Unit, kept: list[Tensor]) -> Unit:
    def run(hidden: Tensor, **conditions: Any) -> Tensor:  # noqa: ANN401
        kept.append(unit(hidden, **conditions))
        return kept[-1]

    return run


def _joining(unit: Unit, kept: list[Tensor], projection: nn.Module) -> Unit:
    def run(hidden: Tensor, **conditions: Any) -> Tensor:  # noqa: ANN401
        return unit(projection(torch.cat([hidden, kept.pop()], dim=2)), **conditions)

    return run


SKIPS: Mapping[Skips, type[LongSkips] | None] = {"none": None, "long": LongSkips}
