"""The boundary: what a person asks for, what happens on the way, what was used. Standard library only.

Request types hold what was asked: `None` means "not said, use the model default". Result types hold what was used,
every field of it, so that a result (with the files it names by sha256) makes the same image again.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from mezzotint.batch_protocol import DryRows as DryRows
from mezzotint.memory_protocol import CudaGraphs as CudaGraphs
from mezzotint.memory_protocol import GraphsUsed as GraphsUsed
from mezzotint.memory_protocol import GuidancePasses as GuidancePasses
from mezzotint.memory_protocol import MemoryNow as MemoryNow
from mezzotint.memory_protocol import MemoryPolicy as MemoryPolicy
from mezzotint.memory_protocol import MemoryReport as MemoryReport
from mezzotint.memory_protocol import PhaseMemory as PhaseMemory
from mezzotint.memory_protocol import Plan as Plan
from mezzotint.memory_protocol import PlannedComponent as PlannedComponent
from mezzotint.memory_protocol import PlannedPhase as PlannedPhase
from mezzotint.memory_protocol import PlanRequest as PlanRequest
from mezzotint.memory_protocol import Quantization as Quantization
from mezzotint.model_protocol import DeviceInfo as DeviceInfo
from mezzotint.model_protocol import EngineInfo as EngineInfo
from mezzotint.model_protocol import ModelDefaults as ModelDefaults
from mezzotint.model_protocol import ModelInfo as ModelInfo
from mezzotint.model_protocol import ModelPart as ModelPart
from mezzotint.request_protocol import Attention as Attention
from mezzotint.request_protocol import Cascade as Cascade
from mezzotint.request_protocol import DecodeRequest as DecodeRequest
from mezzotint.request_protocol import Dtype as Dtype
from mezzotint.request_protocol import GenerateManyRequest as GenerateManyRequest
from mezzotint.request_protocol import GenerateRequest as GenerateRequest
from mezzotint.request_protocol import ImageInput as ImageInput
from mezzotint.request_protocol import ImageRole as ImageRole
from mezzotint.request_protocol import Inpaint as Inpaint
from mezzotint.request_protocol import InpaintArea as InpaintArea
from mezzotint.request_protocol import InpaintFill as InpaintFill
from mezzotint.request_protocol import LoraRef as LoraRef
from mezzotint.request_protocol import ModelRef as ModelRef
from mezzotint.request_protocol import Output as Output
from mezzotint.request_protocol import Space as Space
from mezzotint.request_protocol import Stage as Stage
from mezzotint.request_protocol import Transition as Transition
from mezzotint.request_protocol import Upscaler as Upscaler
from mezzotint.sampling_protocol import PredictionType as PredictionType
from mezzotint.sampling_protocol import Sampling as Sampling
from mezzotint.sampling_protocol import SettledSampling as SettledSampling

SCHEMA_VERSION = 1

Products = Literal["kernels", "bitsandbytes", "torch"]  # of quantized weights

# ---- what was used and made


@dataclass(frozen=True, slots=True, kw_only=True)
class FileUsed:
    """A file that decided the image."""

    path: str
    sha256: str
    bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelUsed:
    """A model as it was loaded."""

    id: str
    family: str
    variant: str
    path: str
    files: tuple[FileUsed, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class LoraUsed:
    """A LoRA as it was applied."""

    file: FileUsed
    weight: float
    tensors_sha256: str  # of the file without its header, by which other programs know it


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolvedStage(SettledSampling):
    """A stage with nothing left open."""

    model: ModelUsed
    width: int
    height: int
    prompt: str
    negative_prompt: str
    log_snr_start: float | None  # None: the whole schedule
    log_snr_end: float | None
    timesteps: tuple[float, ...]  # of the steps that this stage takes
    sigmas: tuple[float, ...]  # descending, one more than the steps
    loras: tuple[LoraUsed, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class InpaintUsed:
    """How the masked part of an init image was inpainted."""

    asked: Inpaint  # with nothing left open
    box: tuple[int, int, int, int]  # left, top, right, bottom of what the model saw, in pixels of the grown image
    width: int  # of the grown image
    height: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolvedTransition:
    """A transition with nothing left open."""

    space: Space
    upscaler: Upscaler
    scale: float
    strength: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class GeneratedImage:
    """An image on disk."""

    path: str
    width: int
    height: int
    seed: int
    index: int  # of the count, from 0
    sha256: str  # of the pixels, row by row, RGB


@dataclass(frozen=True, slots=True, kw_only=True)
class Timings:
    """Seconds of wall time by phase."""

    load: float
    encode: float
    denoise: tuple[float, ...]  # by stage, all images
    decode: float
    save: float
    total: float


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelFallback:
    """Why torch did what kernels were to do."""

    reason: str
    calls: int  # done by torch for this reason; 0: the kernels were given up between calls


@dataclass(frozen=True, slots=True, kw_only=True)
class GenerateResult:
    """The images, and every value that was used to make them."""

    schema_version: int
    images: tuple[GeneratedImage, ...]
    seed: int
    stages: tuple[ResolvedStage, ...]
    transitions: tuple[ResolvedTransition, ...]
    images_used: tuple[FileUsed, ...]  # images given, as the request names them, and embeddings
    strength: float | None
    device: str
    device_name: str
    dtype: str
    attention: str  # that was used, at the end; kernels of ours only if they were called
    threads: int
    versions: dict[str, str]
    timings: Timings
    memory: MemoryReport
    notices: tuple[str, ...]
    attention_asked: Attention = "auto"
    attention_calls: int = 0  # done by our kernels
    attention_fallbacks: tuple[KernelFallback, ...] = ()
    products: Products | None = None  # that were used, at the end; None: no layer multiplies integers
    product_calls: int = 0  # done by our kernels
    nf4_products: Products | None = None  # as `products`, of weights in NF4
    nf4_calls: int = 0  # done by bitsandbytes
    product_fallbacks: tuple[KernelFallback, ...] = ()
    quantization: Quantization = "none"  # done while loading; what files hold quantized is not counted
    text_quantization: Quantization = "none"
    plan: Plan | None = None  # None: nothing was planned, for everything is where it works
    vae_tile: int = 0
    guidance_passes: GuidancePasses = "batched"
    compiled: bool = False
    fast: bool = False  # whether products were summed in float16
    merged_layers: int = 0  # that have LoRAs in their weights, at the end; those of quantized weights are beside them
    cuda_graphs: GraphsUsed | None = None  # None: they were not asked for
    recoveries: tuple[str, ...] = ()  # what was done when memory ran short
    inpaint: InpaintUsed | None = None  # None: nothing was inpainted
    together: int = 1  # images that were denoised at once with it


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """Why one of several requests came to nothing."""

    kind: str  # of the error, such as image_refused
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ManyOutcome:
    """What became of one of several requests: one of the two."""

    result: GenerateResult | None
    failure: Failure | None


@dataclass(frozen=True, slots=True, kw_only=True)
class GenerateManyResult:
    """What became of several requests."""

    schema_version: int
    outcomes: tuple[ManyOutcome, ...]  # in the order of the requests


# ---- what happens on the way


PLANNING = "planning"  # in the place of a model, while one that is new is looked at: hundredths instead of bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Loading:
    """Weights on their way in."""

    model: str
    component: str
    bytes_done: int  # of all components of the job
    bytes_total: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Encoding:
    """Prompts on their way through the text encoders."""

    stage: int
    stages: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One step of denoising is done."""

    image: int  # of the count, from 0
    images: int
    stage: int
    stages: int
    step: int  # of this stage, from 1
    steps: int
    sigma: float
    preview: str | None  # a JPEG in base64


@dataclass(frozen=True, slots=True, kw_only=True)
class Decoding:
    """Latents on their way to pixels."""

    image: int
    images: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Saved:
    """An image is safely on disk."""

    image: GeneratedImage
    images: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StageShown:
    """What the first stage of a cascade ended with; told with previews, once the finished image is safe."""

    image: int  # of the count, from 0
    images: int
    stage: int
    stages: int
    jpeg: str  # in base64


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """Something a person should know; the work goes on."""

    code: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """Work that is counted: a download, a scan, a conversion."""

    what: str
    done: int
    total: int | None  # None: not known yet
    unit: Literal["bytes", "files", "layers", "images"]
    seconds_left: float | None = None


Told = Loading | Encoding | Step | Decoding | Saved | StageShown | Notice | Progress | DryRows


@dataclass(frozen=True, slots=True, kw_only=True)
class OfRequest:
    """What a request among several tells; a step of images that are made together is told for each of them.

    Loading is told of the first of those that wait for it.
    """

    request: int  # its place among them, from 0
    event: Told


Event = Told | OfRequest
OnEvent = Callable[[Event], None]
IsCancelled = Callable[[], bool]

# ---- images


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageMetadata:
    """How an image says it was made, by whatever program."""

    program: str  # mezzotint, a1111, comfyui, invokeai, swarmui, fooocus, unknown
    prompt: str | None
    negative_prompt: str | None
    width: int | None
    height: int | None
    seed: int | None
    steps: int | None
    sampler: str | None
    schedule: str | None
    guidance_scale: float | None
    strength: float | None
    model: str | None
    model_hash: str | None
    request: GenerateRequest | None  # ours: makes the image again
    other: dict[str, str]
