"""What a network's weights take on the device, block by block, and what its passes take in time."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from mezzotint.memory.footprints.footprint import BlockFootprint, ComponentFootprint, Scheme
from mezzotint.memory.planning.task import Numbers

SLOTS = (2, 3)
# The part of a link's rate that copies reach beside computing, by the number of slots they fill.
_REACHED = {2: 0.92, 3: 0.95}
_UNHIDDEN = 0.08  # of the shorter of computing and copying, which share the device's memory
_QUARTERS = 4
# Bytes of a quantized weight over those of the 16 bits that it stands for, scales and branches with it.
_SHARES: dict[Scheme, float] = {"int8": 0.51, "int8-weight": 0.51, "int4": 0.27, "int4-lowrank": 0.31}


@dataclass(frozen=True, slots=True)
class Layout:
    """One way for a network to lie on the device."""

    resident: int  # blocks
    slots: int
    device_bytes: int  # of what stays and of the slots
    stay_bytes: int  # of what stays: copied in the first pass after the network comes
    streamed_bytes: int  # copied in every pass


@dataclass(frozen=True, slots=True)
class Route:
    """How fast weights come from where they wait; what is page-locked comes faster, and is what is streamed first."""

    rate: float  # bytes per second
    locked: int = 0  # bytes
    locked_rate: float = 1.0

    def seconds(self, moved: int) -> float:
        """Of copying."""
        locked = min(self.locked, moved)
        return locked / self.locked_rate + (moved - locked) / self.rate


@lru_cache(maxsize=1024)
def stays(count: int, chosen: int) -> tuple[bool, ...]:
    """Which of some blocks stay, as evenly among the others as can be: as the executor spreads them."""
    return tuple((index + 1) * chosen // count > index * chosen // count for index in range(count))


def is_wide(component: ComponentFootprint, dtype: Numbers) -> bool:
    """Whether its numbers take 32 bits."""
    return dtype == "float32" or (dtype == "float16" and component.float32)


def total_bytes(component: ComponentFootprint, scheme: Scheme, dtype: Numbers) -> int:
    """Of all its weights."""
    wide = is_wide(component, dtype)
    blocks = sum(_bytes(block.bytes, scheme, wide) for block in component.blocks)
    return blocks + _bytes(component.outside, scheme, wide)


def largest_block(component: ComponentFootprint, scheme: Scheme, dtype: Numbers) -> int:
    """Of what is read from disk at once."""
    wide = is_wide(component, dtype)
    return max((_bytes(block.bytes, scheme, wide) for block in component.blocks), default=0)


def layouts(component: ComponentFootprint, scheme: Scheme, dtype: Numbers) -> tuple[Layout, ...]:
    """Every way; a text encoder, which runs once for an image, keeps its blocks by quarters."""
    wide = is_wide(component, dtype)
    outside = _bytes(component.outside, scheme, wide)
    sizes = [_bytes(block.bytes, scheme, wide) for block in component.blocks]
    whole = outside + sum(sizes)
    streamed = (layout for resident in _residents(component) for layout in _streamed(outside, sizes, resident))
    everything = Layout(len(sizes), 0, whole, whole, 0)
    return (everything, *(layout for layout in streamed if layout.device_bytes < whole))


def _residents(component: ComponentFootprint) -> Iterator[int]:
    count = len(component.blocks)
    if component.role != "text":
        yield from range(count)
        return
    yield from sorted({count * quarter // _QUARTERS for quarter in range(_QUARTERS)} if count else ())


def _streamed(outside: int, sizes: list[int], resident: int) -> Iterator[Layout]:
    moving = [size for size, stay in zip(sizes, stays(len(sizes), resident), strict=True) if not stay]
    passing = sum(moving)
    stay = outside + sum(sizes) - passing
    for slots in SLOTS:
        if len(moving) > slots:  # else each has a slot of its own, and nothing streams
            room = sum(max(moving[slot::slots]) for slot in range(slots))
            yield Layout(resident, slots, stay + room, stay, passing)


def _bytes(by_scheme: Mapping[Scheme, int], scheme: Scheme, wide: bool) -> int:
    """In 32 bits what is not quantized takes twice what it takes in 16."""
    full = by_scheme["none"]
    kept = by_scheme.get(scheme, full)
    if not wide:
        return kept
    quantized = 0.0 if scheme == "none" else min(full, max(0, full - kept) / (1 - _SHARES[scheme]))
    return kept + int(full - quantized)


def has_scheme(component: ComponentFootprint, scheme: Scheme) -> bool:
    """Whether any of its weights can be kept so."""
    parts: tuple[BlockFootprint, ...] = component.blocks
    return scheme == "none" or scheme in component.outside or any(scheme in block.bytes for block in parts)


def computing_in(layout: Layout, measured: float, route: Route) -> float | None:
    """What computing took of a measured pass, if copying took less: the inverse of `pass_seconds`."""
    copying = pass_seconds(layout, 0.0, route)
    computing = measured - _UNHIDDEN * copying
    return computing if computing > copying else None


def pass_seconds(layout: Layout, computing: float, route: Route, *, arriving: bool = False) -> float:
    """Of one forward pass: computing and copying go on side by side, almost; the first brings what stays, too."""
    moved = layout.streamed_bytes + (layout.stay_bytes if arriving else 0)
    if not moved:
        return computing
    copying = route.seconds(moved) / _REACHED.get(layout.slots, _REACHED[SLOTS[-1]])
    return max(computing, copying) + _UNHIDDEN * min(computing, copying)
