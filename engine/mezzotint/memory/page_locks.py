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


def topped_up(locked: dict[str, int], moving: Iterable[Moving], budget: int) -> dict[str, int]:
    """What of an allotment is of use, and what else the budget then has room for.

    Of one network `moving` names the bytes that are locked first before the others.
    """
    kept: dict[str, int] = {}
    missing: list[Moving] = []
    left = dict(locked)
    for each in moving:
        taken = min(each.bytes, left.get(each.key, 0))
        left[each.key] = left.get(each.key, 0) - taken
        kept[each.key] = kept.get(each.key, 0) + taken
        missing.append(Moving(each.key, each.bytes - taken, each.times))
    more = allotted(missing, budget - sum(kept.values()))
    return {key: size + more.get(key, 0) for key, size in kept.items()}
