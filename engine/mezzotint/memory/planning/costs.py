"""Costs of a network: device memory of its weights, block by block, and time of its forward passes."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from mezzotint.memory.even_spread import spread
from mezzotint.memory.footprints.footprint import BlockFootprint, ComponentFootprint, Scheme
from mezzotint.memory.planning.task import DType

SLOTS = (2, 3)
# Fraction of the link's rate that copies reach during computation, by number of slots.
REACHED = {2: 0.92, 3: 0.95}
_UNHIDDEN = 0.08  # fraction of the shorter of computing and copying that does not overlap: they share memory bandwidth
_QUARTERS = 4
# Size of a quantized weight relative to 16 bits, including scales and branches.
_SHARES: dict[Scheme, float] = {
    "int8": 0.51,
    "int8-weight": 0.51,
    "int4": 0.27,
    "int4-lowrank": 0.31,
    "int4-rot": 0.26,
    "int4-codebook": 0.29,
    "svdquant": 0.31,
    "fp8": 0.51,
    "nvfp4": 0.29,
}


@dataclass(frozen=True, slots=True)
class Layout:
    """A layout of a network on the device."""

    resident: int  # number of blocks
    slots: int
    device_bytes: int  # of resident weights and slots
    resident_bytes: int  # of resident weights, copied in the first pass after arrival on the device
    streamed_bytes: int  # of streamed weights, copied in every pass


@dataclass(frozen=True, slots=True)
class CopyRates:
    """Copy rates from the host; page-locked weights are faster, and are the first to be streamed."""

    rate: float  # bytes per second
    locked: int = 0  # bytes
    locked_rate: float = 1.0

    def seconds(self, moved: int) -> float:
        """Seconds to copy this many bytes."""
        locked = min(self.locked, moved)
        return locked / self.locked_rate + (moved - locked) / self.rate


def runs_in_fp32(component: ComponentFootprint, dtype: DType) -> bool:
    """Whether the component runs in 32 bits."""
    return dtype == "float32" or (dtype == "float16" and component.float32)


def total_bytes(component: ComponentFootprint, scheme: Scheme, dtype: DType) -> int:
    """Bytes of all weights."""
    wide = runs_in_fp32(component, dtype)
    blocks = sum(_bytes(block.bytes, scheme, wide) for block in component.blocks)
    return blocks + _bytes(component.outside, scheme, wide)


def largest_block(component: ComponentFootprint, scheme: Scheme, dtype: DType) -> int:
    """Bytes of the largest block, the unit that is read from disk."""
    wide = runs_in_fp32(component, dtype)
    return max((_bytes(block.bytes, scheme, wide) for block in component.blocks), default=0)


def layouts(component: ComponentFootprint, scheme: Scheme, dtype: DType) -> tuple[Layout, ...]:
    """Return all layouts; for text encoders, which run once per image, only quarters of the blocks are considered."""
    wide = runs_in_fp32(component, dtype)
    outside = _bytes(component.outside, scheme, wide)
    sizes = [_bytes(block.bytes, scheme, wide) for block in component.blocks]
    whole = outside + sum(sizes)
    streamed = (layout for resident in _residents(component) for layout in _streamed(outside, sizes, resident))
    everything = Layout(len(sizes), 0, whole, whole, 0)
    return (everything, *(layout for layout in streamed if layout.device_bytes < whole))


def streamed_bytes(component: ComponentFootprint, scheme: Scheme, dtype: DType, streamed: int, slots: int) -> int:
    """Bytes on the device of all weights if this many blocks are streamed."""
    wide = runs_in_fp32(component, dtype)
    sizes = [_bytes(block.bytes, scheme, wide) for block in component.blocks]
    return _bytes(component.outside, scheme, wide) + spread_bytes(sizes, streamed, slots)


def spread_bytes(sizes: Sequence[int], streamed: int, slots: int) -> int:
    """Bytes of blocks of these sizes, of which some share slots."""
    resident = spread(len(sizes), max(0, len(sizes) - streamed))
    moving = [size for size, is_resident in zip(sizes, resident, strict=True) if not is_resident]
    return sum(sizes) - sum(moving) + _room(moving, min(slots, len(moving)))


def _room(moving: Sequence[int], slots: int) -> int:
    return sum(max(moving[slot::slots]) for slot in range(slots))


def _residents(component: ComponentFootprint) -> Iterator[int]:
    count = len(component.blocks)
    if component.role != "text":
        yield from range(count)
        return
    yield from sorted({count * quarter // _QUARTERS for quarter in range(_QUARTERS)} if count else ())


def _streamed(outside: int, sizes: list[int], resident: int) -> Iterator[Layout]:
    moving = [size for size, is_resident in zip(sizes, spread(len(sizes), resident), strict=True) if not is_resident]
    streamed = sum(moving)
    kept = outside + sum(sizes) - streamed
    for slots in SLOTS:
        if len(moving) > slots:  # otherwise every block has its own slot and nothing is streamed
            yield Layout(resident, slots, kept + _room(moving, slots), kept, streamed)


def _bytes(by_scheme: Mapping[Scheme, int], scheme: Scheme, wide: bool) -> int:
    """Bytes in a scheme; in 32 bits, unquantized weights take twice the bytes of 16 bits."""
    full = by_scheme["none"]
    kept = by_scheme.get(scheme, full)
    if not wide:
        return kept
    quantized = 0.0 if scheme == "none" else min(full, max(0, full - kept) / (1 - _SHARES[scheme]))
    return kept + int(full - quantized)


def has_scheme(component: ComponentFootprint, scheme: Scheme) -> bool:
    """Whether any of the weights can be quantized in this scheme."""
    parts: tuple[BlockFootprint, ...] = component.blocks
    return scheme == "none" or scheme in component.outside or any(scheme in block.bytes for block in parts)


def compute_seconds(layout: Layout, measured: float, copy_rates: CopyRates) -> float | None:
    """Return the compute time of a measured pass, None if copying took longer: the inverse of `pass_seconds`."""
    copying = pass_seconds(layout, 0.0, copy_rates)
    computing = measured - _UNHIDDEN * copying
    return computing if computing > copying else None


def pass_seconds(layout: Layout, computing: float, copy_rates: CopyRates, *, arriving: bool = False) -> float:
    """Seconds of a forward pass, with computing and copying almost overlapped; `arriving` adds resident weights."""
    moved = layout.streamed_bytes + (layout.resident_bytes if arriving else 0)
    if not moved:
        return computing
    copying = copy_rates.seconds(moved) / REACHED.get(layout.slots, REACHED[SLOTS[-1]])
    return max(computing, copying) + _UNHIDDEN * min(computing, copying)
