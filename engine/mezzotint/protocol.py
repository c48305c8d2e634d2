"""The boundary: what a person asks for, what happens on the way, what was used. Standard library only.

Request types hold what was asked: `None` means "not said, take the model's own". Result types hold what was used,
every field of it, so that a result (with the files it names by sha256) makes the same image again.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
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

SCHEMA_VERSION = 1

Space = Literal["latent", "pixel"]
Upscaler = Literal["nearest", "bilinear", "bicubic", "lanczos"]
ImageRole = Literal["init", "mask", "control", "reference"]
Attention = Literal["auto", "flash", "int8", "sdpa", "reference"]
Products = Literal["kernels", "bitsandbytes", "torch"]  # of quantized weights
Dtype = Literal["auto", "float32", "bfloat16", "float16"]
InpaintArea = Literal["whole", "masked"]
InpaintFill = Literal["picture", "blur", "noise"]
PredictionType = Literal["epsilon", "v_prediction", "flow_prediction"]

# ---- what a person asks for


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRef:
    """A model by its catalog id, or by the path of its folder or file."""

    id: str
    sha256: str | None = None  # of the sha256 of its weight files; given, other files are told in a notice


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampling:
    """How a stage walks down the noise; `None` is the checkpoint's own."""

    sampler: str | None = None
    schedule: str | None = None
    steps: int | None = None  # of the whole schedule, before a stage takes its part
    guidance_scale: float | None = None  # 1 or less: none
    guidance_rescale: float | None = None  # 0..1, phi of arXiv 2305.08891
    prediction_type: PredictionType | None = None  # overrides what the file says
    zero_terminal_snr: bool | None = None
    clip_skip: int | None = None  # 0: the encoder's usual layer; n: n layers earlier


@dataclass(frozen=True, slots=True, kw_only=True)
class LoraRef:
    """A LoRA file, and how strongly it counts."""

    path: str
    weight: float = 1.0  # below 0: away from what it was trained for
    sha256: str | None = None  # of the file; given, a file that has changed is refused


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """One model at one size over one interval of noise levels."""

    model: ModelRef | None = None  # None: that of the stage before; for the first, the default model
    width: int | None = None  # pixels; None: that of the stage before times the transition's scale
    height: int | None = None
    until: float | None = None  # 0..1, the part of the schedule done when it hands over; None: to the end
    sampling: Sampling = field(default_factory=Sampling)
    prompt: str | None = None  # None: the request's
    negative_prompt: str | None = None
    loras: tuple[LoraRef, ...] | None = None  # None: those of the request's that fit its model
    weights: str | None = None  # a file, safetensors or GGUF, of other weights for the network that makes images


@dataclass(frozen=True, slots=True, kw_only=True)
class Transition:
    """How the latents of one stage become those of the next."""

    space: Space = "latent"
    scale: float = 1.0  # of the sides
    upscaler: Upscaler = "bicubic"
    strength: float | None = None  # 0..1, how far up the noise the next stage starts; None: where the last stopped


@dataclass(frozen=True, slots=True, kw_only=True)
class Cascade:
    """A list of stages, and the transitions between them (one fewer)."""

    stages: tuple[Stage, ...] = (Stage(),)
    transitions: tuple[Transition, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageInput:
    """An image given beside the words, and the part it plays.

    A mask has the shape of the init image: what is white is made anew, what is black or transparent stays.
    """

    path: str
    role: ImageRole = "init"
    sha256: str | None = None  # of the file; given, a file that has changed is refused
    weight: float = 1.0
    interval: tuple[float, float] = (0.0, 1.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Inpaint:
    """How the masked part of an init image is made anew, and by how much the image grows."""

    area: InpaintArea = "whole"  # masked: the part around the mask alone, at the full size of the request
    padding: int = 32  # pixels around the mask that "masked" sees
    feather: int = 8  # pixels inside the mask's edge over which old becomes new
    fill: InpaintFill = "picture"  # what the masked part begins from
    left: int = 0  # pixels by which the image grows there
    top: int = 0
    right: int = 0
    bottom: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """Where images go: a file name, or a template with [tokens] such as [seed] or [date]."""

    path: str | None = None  # None: the default template in the current folder; a folder: the default name in it
    overwrite: bool = False  # False: a suffix keeps what is there
    preview_folder: str | None = None  # where the image of each step is written, if anywhere


@dataclass(frozen=True, slots=True, kw_only=True)
class GenerateRequest:
    """Everything that decides an image."""

    prompt: str
    negative_prompt: str = ""
    cascade: Cascade = field(default_factory=Cascade)
    images: tuple[ImageInput, ...] = ()
    strength: float | None = None  # 0..1, how much of an init image is made anew
    inpaint: Inpaint | None = None  # None: as its defaults, where there is a mask
    seed: int | None = None  # of the first image; the next ones count up; None: drawn and recorded
    count: int = 1
    device: str = "auto"  # auto, cpu, cuda, cuda:1, xpu, mps
    dtype: Dtype = "auto"
    attention: Attention = "auto"
    quantization: Quantization = "auto"  # of the network that makes images, as it is loaded
    text_quantization: Quantization = "auto"  # of text encoders
    previews: bool = False  # a small JPEG with every step
    embeddings: tuple[str, ...] = ()  # textual-inversion files
    loras: tuple[LoraRef, ...] = ()  # each is for every stage whose model it fits
    memory: MemoryPolicy = "auto"
    vram_limit_bytes: int | None = None  # on a processor: of a simulated card
    ram_limit_bytes: int | None = None
    vae_tile: int | None = None  # pixels of a tile's side in decoding; 0: never tiles; None: as the plan has it
    compile: bool = False  # blocks of the network that makes images: a slow first image, then faster ones
    fast: bool = False  # on NVIDIA cards float16 products are summed in float16: faster on GeForce, a little less exact
    cuda_graphs: CudaGraphs = "auto"  # steps captured once and replayed, of a network that is whole on a CUDA device
    strict: bool = False  # where memory runs short, nothing is done that would change the image
    output: Output = field(default_factory=Output)


@dataclass(frozen=True, slots=True, kw_only=True)
class GenerateManyRequest:
    """Several requests at once; those that are alike are made together, which takes less time than one by one."""

    requests: tuple[GenerateRequest, ...]  # 1 to 64; those of a count above 1 are made alone


@dataclass(frozen=True, slots=True, kw_only=True)
class DecodeRequest:
    """Finish an image whose latents a job has left behind."""

    path: str  # of its latents
    device: str = "auto"
    dtype: Dtype = "auto"  # auto: what the job had
    vae_tile: int | None = None  # None: as the job had it
    output: Output = field(default_factory=Output)  # without a path: where the image was to go


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
class ResolvedStage:
    """A stage with nothing left open."""

    model: ModelUsed
    width: int
    height: int
    prompt: str
    negative_prompt: str
    sampler: str
    schedule: str
    steps: int  # of the whole schedule
    guidance_scale: float
    guidance_rescale: float
    prediction_type: PredictionType
    zero_terminal_snr: bool
    clip_skip: int
    log_snr_start: float | None  # None: the whole schedule
    log_snr_end: float | None
    timesteps: tuple[float, ...]  # of the steps that this stage takes
    sigmas: tuple[float, ...]  # descending, one more than the steps
    loras: tuple[LoraUsed, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class InpaintUsed:
    """How the masked part of an init image was made anew."""

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
class AttentionFallback:
    """Why torch's own attention did what another implementation was to do."""

    reason: str
    calls: int  # done by torch's own for this reason; 0: the implementation was given up between calls


@dataclass(frozen=True, slots=True, kw_only=True)
class ProductFallback:
    """Why torch multiplied with quantized weights where kernels were to."""

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
    attention_fallbacks: tuple[AttentionFallback, ...] = ()
    products: Products | None = None  # that were used, at the end; None: no layer multiplies integers
    product_calls: int = 0  # done by our kernels
    nf4_products: Products | None = None  # as `products`, of weights in NF4
    nf4_calls: int = 0  # done by bitsandbytes
    product_fallbacks: tuple[ProductFallback, ...] = ()
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
    inpaint: InpaintUsed | None = None  # None: no part of an image was made anew by itself
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
    picture: str  # a JPEG in base64


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
    unit: Literal["bytes", "files", "layers", "pictures"]
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
