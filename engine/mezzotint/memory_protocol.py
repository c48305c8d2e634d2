"""Protocol types for memory: planned and measured use. Standard library only."""

from dataclasses import dataclass
from typing import Literal, get_args

from mezzotint.values.speed import DeepShrink, SparseAttention, TokenReduction

Scheme = Literal["int8", "int8-weight", "int4", "int4-lowrank", "int4-rot", "int4-codebook", "svdquant", "fp8", "nvfp4"]
SCHEMES: tuple[Scheme, ...] = get_args(Scheme)
Quantization = Literal["auto", "none", Scheme]
MemoryPolicy = Literal["auto", "fast", "balanced", "lowest"]
GuidancePasses = Literal["batched", "sequential"]
CudaGraphs = Literal["auto", "on", "off"]
HostTier = Literal["ram", "disk"]
AdviceKind = Literal["model", "weights", "text", "cache", "tokens", "shrink", "hires"]


@dataclass(frozen=True, slots=True, kw_only=True)
class FastModel:
    """A model that could take another's place, and needs fewer steps."""

    id: str
    steps: int
    guided: bool  # with a second pass for the negative prompt


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanRequest:
    """Request for a memory plan without a job."""

    models: tuple[str, ...]  # one per stage: catalog id, path, or the name of a known model such as flux
    width: int | None = None  # pixels; None: the first model's default
    height: int | None = None
    steps: int | None = None
    memory: MemoryPolicy = "auto"
    quantization: Quantization = "auto"
    text_quantization: Quantization = "auto"
    vram_bytes: int | None = None  # None: this machine's
    ram_bytes: int | None = None
    card: str | None = None  # GPU name for known_card, whose speed is assumed; None: a typical GPU
    references: tuple[tuple[int, int], ...] = ()  # sizes of reference images, in pixels
    tokens: TokenReduction | None = None
    sparse_attention: SparseAttention | None = None
    deep_shrink: DeepShrink | None = None
    step_cache: float | None = None
    denoise_tile: int | None = None  # pixels; AUTO_TILE: the largest that the memory allows; None: off
    advise: bool = False  # also on what would make it faster
    fast_models: tuple[FastModel, ...] = ()  # to advise on
    controls: tuple[str, ...] = ()  # as in job files: IMAGE,model=MODEL,...; images are not read


# ---- planned


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedComponent:
    """The plan for one component."""

    model: str
    name: str
    quantization: Quantization
    bytes: int  # all its weights
    blocks: int
    resident_blocks: int  # blocks that stay on the device while it runs; the others are streamed through slots
    slots: int
    device_bytes: int  # resident blocks plus slots
    host: HostTier  # where its weights are kept
    phases: tuple[str, ...]  # phases during which it is on the device
    pinned_bytes: int = 0  # page-locked there


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedPhase:
    """Peak memory of one phase."""

    name: str  # encode, stage 1, decode
    weights_bytes: int
    activation_bytes: int
    peak_bytes: int  # including context and margin
    seconds: float  # expected, from measurements where available
    seconds_resident: float  # the same with everything resident


@dataclass(frozen=True, slots=True, kw_only=True)
class Advice:
    """Options that would make a job faster: those that are set here."""

    kind: AdviceKind
    seconds: float | None  # of all phases, as planned with them; None: depends on the image
    loss: float | None = None  # distance in the judge's features, 0 to 1; None: not measured on this model
    model: str | None = None
    steps: int | None = None  # the model's default
    quantization: Quantization | None = None
    text_quantization: Quantization | None = None
    step_cache: float | None = None
    tokens: TokenReduction | None = None
    deep_shrink: DeepShrink | None = None
    size: tuple[int, int] | None = None  # pixels, before a second pass
    hires: float | None = None  # scale of the second pass


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A memory plan, with numbers and reasons."""

    fits: bool
    memory: MemoryPolicy
    vram_bytes: int  # available or allowed
    ram_bytes: int
    peak_vram_bytes: int
    peak_ram_bytes: int
    pinned_bytes: int
    components: tuple[PlannedComponent, ...]
    phases: tuple[PlannedPhase, ...]
    guidance: GuidancePasses
    vae_tile: int  # tile side in pixels; 0: no tiling
    quantization: Quantization
    text_quantization: Quantization
    seconds: float  # all phases, with models loaded
    seconds_resident: float
    smallest_vram_bytes: int  # minimum for any plan of this policy
    smallest_ram_bytes: int
    reasons: tuple[str, ...]
    seconds_loading: float = 0.0  # before the first phase, if no earlier job has loaded anything
    advice: tuple[Advice, ...] = ()  # if asked for; what saves most first


# ---- measured


@dataclass(frozen=True, slots=True, kw_only=True)
class PhaseMemory:
    """A phase's peak on the device, predicted and measured."""

    name: str
    predicted_bytes: int
    measured_bytes: int
    held_bytes: int | None = None  # reserved by the allocator, including fragmentation; None: unknown


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryReport:
    """Peaks over the whole job."""

    peak_ram_bytes: int
    peak_vram_bytes: int | None  # None: neither a GPU nor a simulated one was used
    phases: tuple[PhaseMemory, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryNow:
    """Current memory use of the engine and its machine."""

    ram_bytes: int  # engine process
    ram_free_bytes: int  # whole machine
    ram_total_bytes: int
    vram_bytes: int | None  # engine on its GPU; None: no GPU
    vram_free_bytes: int | None
    vram_total_bytes: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphsUsed:
    """How forward passes of the denoisers were launched so far."""

    captured: int  # captured graphs
    replayed: int  # passes replayed from a graph
    eager: int  # passes launched eagerly
    reason: str  # why capture was requested but incomplete; empty: all but the first pass of each kind were captured
