"""The protocol: requests, events and results. Standard library only.

In requests `None` means "not set, use the model default". Results hold all values that were used, so that a result
(with the files it names by sha256) reproduces the image.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from mezzotint.batch_protocol import DryRows as DryRows
from mezzotint.control_protocol import ControlRef as ControlRef
from mezzotint.control_protocol import ControlType as ControlType
from mezzotint.control_protocol import Preprocess as Preprocess
from mezzotint.memory_protocol import SCHEMES as SCHEMES
from mezzotint.memory_protocol import Advice as Advice
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
from mezzotint.memory_protocol import Scheme as Scheme
from mezzotint.model_protocol import DeviceInfo as DeviceInfo
from mezzotint.model_protocol import EngineInfo as EngineInfo
from mezzotint.model_protocol import HubModel as HubModel
from mezzotint.model_protocol import HubSearch as HubSearch
from mezzotint.model_protocol import ModelDefaults as ModelDefaults
from mezzotint.model_protocol import ModelInfo as ModelInfo
from mezzotint.model_protocol import ModelPart as ModelPart
from mezzotint.model_protocol import PartChoice as PartChoice
from mezzotint.model_protocol import PartFiles as PartFiles
from mezzotint.model_protocol import faster_models as faster_models
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
from mezzotint.request_protocol import Resampling as Resampling
from mezzotint.request_protocol import Space as Space
from mezzotint.request_protocol import Stage as Stage
from mezzotint.request_protocol import Transition as Transition
from mezzotint.sampling_protocol import PredictionType as PredictionType
from mezzotint.sampling_protocol import ResolvedSampling as ResolvedSampling
from mezzotint.sampling_protocol import Sampling as Sampling

SCHEMA_VERSION = 1

Products = Literal["kernels", "bitsandbytes", "torch"]  # matmuls of quantized weights

# ---- results


@dataclass(frozen=True, slots=True, kw_only=True)
class FileUsed:
    """A file that determines the image."""

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
    tensors_sha256: str  # of the file without its header, as other programs identify it


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlUsed:
    """A control image as it was applied."""

    file: FileUsed | None  # of the ControlNet or IP-Adapter; if it has several, the first; None: the model's own
    image: FileUsed
    weight: float
    start: float
    end: float
    type: ControlType | None
    preprocess: Preprocess
    encoder: FileUsed | None = None  # the first file of an IP-Adapter's image encoder
    mask: FileUsed | None = None  # where its image prompt applies
    networks: tuple[FileUsed, ...] = ()  # that prepared the image


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolvedStage(ResolvedSampling):
    """A stage with every value resolved."""

    model: ModelUsed
    width: int
    height: int
    prompt: str
    negative_prompt: str
    log_snr_start: float | None  # None: the whole schedule
    log_snr_end: float | None
    timesteps: tuple[float, ...]  # of the steps that this stage runs
    sigmas: tuple[float, ...]  # descending, one more than the steps
    tile: int = 0  # side in pixels of the tiles that were denoised one by one in each step; 0: the whole image at once
    loras: tuple[LoraUsed, ...] = ()
    controls: tuple[ControlUsed, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class InpaintUsed:
    """How the masked part of an init image was inpainted."""

    asked: Inpaint  # with every value resolved
    box: tuple[int, int, int, int]  # left, top, right, bottom of the model's view, in pixels of the outpainted image
    width: int  # of the outpainted image
    height: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolvedTransition:
    """A transition with every value resolved."""

    space: Space
    upscaler: str
    scale: float
    strength: float | None
    refines: bool = False  # whether the next stage was also given the clean latents of the last one
    upscaler_file: FileUsed | None = None  # None: `upscaler` is a Resampling


@dataclass(frozen=True, slots=True, kw_only=True)
class DetailFound:
    """Part of an image that a detector found, and that was then made in detail."""

    label: str
    box: tuple[int, int, int, int]  # left, top, right, bottom in pixels
    score: float  # 0 to 1


@dataclass(frozen=True, slots=True, kw_only=True)
class GeneratedImage:
    """An image on disk."""

    path: str
    width: int
    height: int
    seed: int
    index: int  # within the request, from 0
    sha256: str  # of the pixels, row by row, RGB
    details: tuple[DetailFound, ...] = ()  # in the order in which they were made


@dataclass(frozen=True, slots=True, kw_only=True)
class Timings:
    """Wall-clock seconds per phase."""

    load: float
    encode: float
    denoise: tuple[float, ...]  # per stage, all images
    decode: float
    save: float
    total: float


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelFallback:
    """Why torch, or our kernels in more bits, replaced those that were asked for."""

    reason: str
    calls: int  # calls affected; 0: the kernels were disabled between calls


@dataclass(frozen=True, slots=True, kw_only=True)
class GenerateResult:
    """The images and all values used to generate them."""

    schema_version: int
    images: tuple[GeneratedImage, ...]
    seed: int
    stages: tuple[ResolvedStage, ...]
    transitions: tuple[ResolvedTransition, ...]
    images_used: tuple[FileUsed, ...]  # input images in request order, then embeddings
    strength: float | None
    device: str
    device_name: str
    dtype: str
    attention: str  # backend in use at the end; one of our kernels only if it was called
    threads: int
    versions: dict[str, str]
    timings: Timings
    memory: MemoryReport
    notices: tuple[str, ...]
    attention_asked: Attention = "auto"
    attention_calls: int = 0  # done by our kernels
    attention_fallbacks: tuple[KernelFallback, ...] = ()
    linear_attention_calls: int = 0  # done by our kernels, in networks that have it
    linear_attention_fallbacks: tuple[KernelFallback, ...] = ()
    products: Products | None = None  # matmuls in use at the end; None: no layer multiplies integers
    product_calls: int = 0  # done by our kernels
    product_schemes: dict[str, int] = field(default_factory=dict)  # these calls, by the scheme of the weights
    fused_product_calls: int = 0  # of these, of several layers, or with a norm, activation, gate or residual included
    nf4_products: Products | None = None  # like `products`, for NF4 weights
    nf4_calls: int = 0  # calls of bitsandbytes kernels
    product_fallbacks: tuple[KernelFallback, ...] = ()
    group_norm_calls: int = 0  # done by our kernels, with the SiLU after it
    group_norm_fallbacks: tuple[KernelFallback, ...] = ()
    quantization: Quantization = "none"  # applied while loading; excludes files quantized already
    text_quantization: Quantization = "none"
    plan: Plan | None = None  # None: no plan needed, as everything fits
    vae_tile: int = 0
    guidance_passes: GuidancePasses = "batched"
    compiled: bool = False
    fast: bool = False  # whether float16 matmuls accumulated in float16
    merged_layers: int = 0  # layers with merged LoRAs, at the end; quantized layers apply them separately
    cuda_graphs: GraphsUsed | None = None  # None: not requested
    recoveries: tuple[str, ...] = ()  # measures taken on memory shortage
    inpaint: InpaintUsed | None = None  # None: no inpainting
    together: int = 1  # batch size of its denoising


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """Why one of several requests failed."""

    kind: str  # kind of error, such as image_refused
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ManyOutcome:
    """The outcome of one of several requests: exactly one field is set."""

    result: GenerateResult | None
    failure: Failure | None


@dataclass(frozen=True, slots=True, kw_only=True)
class GenerateManyResult:
    """The outcomes of several requests."""

    schema_version: int
    outcomes: tuple[ManyOutcome, ...]  # in the order of the requests


# ---- events


PLANNING = "planning"  # replaces a model's name while a new model is traced: hundredths instead of bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Loading:
    """Weights are being loaded."""

    model: str
    component: str
    bytes_done: int  # of all components of the job
    bytes_total: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Encoding:
    """Prompts are being encoded."""

    stage: int
    stages: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One denoising step is done."""

    image: int  # within the request, from 0
    images: int
    stage: int
    stages: int
    step: int  # within this stage, from 1
    steps: int
    sigma: float
    preview: str | None  # a JPEG in base64


@dataclass(frozen=True, slots=True, kw_only=True)
class Decoding:
    """Latents are being decoded."""

    image: int
    images: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Saved:
    """An image was saved to disk."""

    image: GeneratedImage
    images: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StageShown:
    """The decoded result of a cascade's first stage; sent with previews, after the finished image is saved."""

    image: int  # within the request, from 0
    images: int
    stage: int
    stages: int
    jpeg: str  # base64


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """Information for the user; the work continues."""

    code: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """Progress of countable work: a download, a scan, a conversion."""

    what: str
    done: int
    total: int | None  # None: not known yet
    unit: Literal["bytes", "files", "layers", "images", "steps", "tiles"]
    seconds_left: float | None = None


Told = Loading | Encoding | Step | Decoding | Saved | StageShown | Notice | Progress | DryRows


@dataclass(frozen=True, slots=True, kw_only=True)
class OfRequest:
    """An event of one of several requests; a step of a batch is sent for each of its requests.

    Loading is sent only for the first request that waits for it.
    """

    request: int  # its index, from 0
    event: Told


Event = Told | OfRequest
OnEvent = Callable[[Event], None]
IsCancelled = Callable[[], bool]

# ---- images


@dataclass(frozen=True, slots=True, kw_only=True)
class LoraNamed:
    """A LoRA as another program names it: without its folder."""

    name: str
    weight: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageMetadata:
    """How an image was made, read from its file, whatever program wrote it."""

    program: str  # mezzotint, a1111, comfyui, invokeai, swarmui, fooocus, novelai, unknown
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
    variation_seed: int | None = None  # what a strength above 0 blends into the start noise
    variation_strength: float | None = None
    distilled_guidance_scale: float | None = None  # given to the network, beside the CFG scale
    clip_skip: int | None = None  # 0: none
    hires_scale: float | None = None  # of a second pass, whose strength is `strength`
    hires_steps: int | None = None  # that it takes; None: a share of `steps`, by the strength
    hires_space: Space | None = None  # None: `hires_upscaler` is a name of an upscaler, and not ours of a method
    hires_upscaler: str | None = None
    refiner: str | None = None
    refiner_at: float | None = None  # part of the schedule
    loras: tuple[LoraNamed, ...] | None = None
    inpaint: Inpaint | None = None
    unused: tuple[str, ...] | None = None  # names and values of settings, of those in `other`, that have no field
    request: GenerateRequest | None  # only from our images: generates the image again
    other: dict[str, str]
