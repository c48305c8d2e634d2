"""How much of each network is page-locked: within one budget, what is copied most often comes first."""

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Moving:
    """Bytes of a network that are copied to the device so many times in a job."""

    key: str  # of the network
    bytes: int
    times: int


def allotted(moving: Iterable[Moving], budget: int) -> dict[str, int]:
    """Bytes for each network, those copied most often first; of the last as many as there is room for."""
    locked: dict[str, int] = {}
    for each in sorted(moving, key=lambda one: -one.times):
        taken = min(each.bytes, budget)
        if taken:
            locked[each.key] = locked.get(each.key, 0) + taken
            budget -= taken
    return locked
