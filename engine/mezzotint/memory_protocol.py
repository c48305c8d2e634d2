"""The boundary's part about memory: how it would be used, and how it was. Standard library only."""

from dataclasses import dataclass
from typing import Literal

Quantization = Literal["auto", "none", "int8", "int8-weight", "int4", "int4-lowrank"]
MemoryPolicy = Literal["auto", "fast", "balanced", "lowest"]
GuidancePasses = Literal["batched", "sequential"]
CudaGraphs = Literal["auto", "on", "off"]
HostTier = Literal["ram", "disk"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanRequest:
    """A question before any work: how would this fit that machine?"""

    models: tuple[str, ...]  # of the stages, by catalog id, path, or the name of a known model such as flux
    width: int | None = None  # pixels; None: what the first model is best at
    height: int | None = None
    steps: int | None = None
    memory: MemoryPolicy = "auto"
    quantization: Quantization = "auto"
    text_quantization: Quantization = "auto"
    vram_bytes: int | None = None  # None: this machine's
    ram_bytes: int | None = None
    card: str | None = None  # whose speed is meant, as known_card has it; None: an ordinary one's
    references: tuple[tuple[int, int], ...] = ()  # sizes of reference images, in pixels


# ---- how memory will be used


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedComponent:
    """One network's part of a plan."""

    model: str
    name: str
    quantization: Quantization
    bytes: int  # of all its weights
    blocks: int
    resident_blocks: int  # that stay on the device while it works; the others take turns in slots
    slots: int
    device_bytes: int  # of what stays, and of the slots
    host: HostTier  # where its weights wait
    phases: tuple[str, ...]  # in which it is on the device
    pinned_bytes: int = 0  # that are page-locked there


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedPhase:
    """What one phase needs at its peak."""

    name: str  # encode, stage 1, decode
    weights_bytes: int
    activation_bytes: int
    peak_bytes: int  # with context and margin
    seconds: float  # expected, of what was measured where it was
    seconds_resident: float  # the same, if everything stayed on the device


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """How memory will be used, with numbers and reasons."""

    fits: bool
    memory: MemoryPolicy
    vram_bytes: int  # that there are, or may be used
    ram_bytes: int
    peak_vram_bytes: int
    peak_ram_bytes: int
    pinned_bytes: int
    components: tuple[PlannedComponent, ...]
    phases: tuple[PlannedPhase, ...]
    guidance: GuidancePasses
    vae_tile: int  # pixels of a tile's side; 0: whole
    quantization: Quantization
    text_quantization: Quantization
    seconds: float  # of all phases, with models that are loaded
    seconds_resident: float
    smallest_vram_bytes: int  # that any plan of this policy needs
    smallest_ram_bytes: int
    reasons: tuple[str, ...]
    seconds_loading: float = 0.0  # before the first phase, where no job before this one has loaded anything


# ---- how it is and was used


@dataclass(frozen=True, slots=True, kw_only=True)
class PhaseMemory:
    """A phase's peak on the device, as it was planned and as it came."""

    name: str
    predicted_bytes: int
    measured_bytes: int
    held_bytes: int | None = None  # by the allocator, with pieces between that nobody could use; None: not known


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryReport:
    """Peaks over the whole job."""

    peak_ram_bytes: int
    peak_vram_bytes: int | None  # None: no GPU was used, nor one simulated
    phases: tuple[PhaseMemory, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryNow:
    """What the engine and its machine use at this moment."""

    ram_bytes: int  # of the engine's process
    ram_free_bytes: int  # of the machine
    ram_total_bytes: int
    vram_bytes: int | None  # of the engine on its card; None: there is none
    vram_free_bytes: int | None
    vram_total_bytes: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphsUsed:
    """How passes of the networks that make images were launched, counted up to this result."""

    captured: int  # graphs that were made
    replayed: int  # passes by a graph
    eager: int  # passes by Python
    reason: str  # why not all were captured, where that was wanted; empty: they were, but for the first of each kind
