"""Distribution of the page-lock budget over networks: what is copied most often comes first."""

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Moving:
    """Bytes of a network and how often a job copies them to the device."""

    key: str  # of the network
    bytes: int
    times: int


def allotted(moving: Iterable[Moving], budget: int) -> dict[str, int]:
    """Allot bytes to each network, most often copied first, until the budget is used up."""
    locked: dict[str, int] = {}
    for each in sorted(moving, key=lambda one: -one.times):
        taken = min(each.bytes, budget)
        if taken:
            locked[each.key] = locked.get(each.key, 0) + taken
            budget -= taken
    return locked
