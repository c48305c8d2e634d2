"""Which weights a network's blocks have, and which blocks run.

`shared` uses each set of weights twice (ALBERT, arXiv 1909.11942; one after the other as in MobileLLM, 2402.14905),
`looped` has one block between the first and the last, which runs again and again (Universal Transformer, 1807.03819).
With `early_exit`, steps at low noise leave out the last blocks (DeeDiff, 2309.17074, with a fixed rule).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import torch
from torch import Tensor
from torch._subclasses.fake_tensor import is_fake

from mezzotint.families.architectures.skips import Unit
from mezzotint.families.architectures.table import Depth

Order: TypeAlias = tuple[int, ...]  # the set of weights of each block, in execution order

EXIT_BELOW = 500.0  # of 1000 timesteps: a quarter of the steps with a shift of 3


@dataclass(frozen=True, slots=True, kw_only=True)
class DepthKind:
    """The order of a number of blocks, and whether the last of them may be left out."""

    order: Callable[[int], Order]
    leaves_early: bool = False


def _unique(blocks: int) -> Order:
    return tuple(range(blocks))


def _shared(blocks: int) -> Order:
    return tuple(place // 2 for place in range(blocks))


def _looped(blocks: int) -> Order:
    return tuple(min(place, 1) if place < blocks - 1 else min(place, 2) for place in range(blocks))


def dense_block(order: Order, weights: int) -> int:
    """Which block of a network with unique weights a set of weights begins as: the middle one of those that use it."""
    places = [place for place, each in enumerate(order) if each == weights]
    return places[(len(places) - 1) // 2]


def blocks_at(blocks: int, timestep: Tensor) -> int:
    """How many of the blocks run for rows at these timesteps `(b,)`: without the last third if all are at low noise."""
    if is_fake(timestep):
        return blocks  # memory is planned for all
    return blocks - blocks // 3 if bool((timestep < EXIT_BELOW).all()) else blocks


def leaving_early(units: Sequence[Unit], last: int, timestep: Tensor) -> list[Unit]:
    """Units of which the last ones do nothing to rows whose timestep `(b,)` is low."""
    is_low = (timestep < EXIT_BELOW)[:, None, None]

    def unit(hidden: Tensor, **conditions: Any) -> Tensor:  # noqa: ANN401
        done = hidden
        for each in units[len(units) - last :]:
            done = each(done, **conditions)
        return torch.where(is_low, hidden, done)

    return [*units[: len(units) - last], unit]


DEPTHS: Mapping[Depth, DepthKind] = {
    "unique": DepthKind(order=_unique),
    "shared": DepthKind(order=_shared),
    "looped": DepthKind(order=_looped),
    "early_exit": DepthKind(order=_unique, leaves_early=True),
}
