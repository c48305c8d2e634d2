"""Protocol types for requests. Each option is declared at the field for its value.

`None` means "not set, use the model default". Standard library only.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Literal, get_args

from mezzotint.control_protocol import ControlImage, ControlRef
from mezzotint.memory_protocol import CudaGraphs, MemoryPolicy, Quantization
from mezzotint.option import option
from mezzotint.sampling_protocol import Sampling
from mezzotint.values.basic import (
    Integer,
    Listed,
    NameOrFile,
    Number,
    Path,
    Text,
    Value,
    WordOrFile,
    YesNo,
    one_of,
    plain_number,
    shown,
    to_float,
)
from mezzotint.values.details import Detail, DetailRef
from mezzotint.values.regions import Region, RegionRef
from mezzotint.values.sizes import MemorySize

Space = Literal["latent", "pixel"]
Resampling = Literal["nearest", "bilinear", "bicubic", "lanczos"]
ImageRole = Literal["init", "mask", "reference"]
Attention = Literal["auto", "flash", "flash-fp16", "int8", "int8-all", "int8-fp8", "sdpa", "reference"]
Dtype = Literal["auto", "float32", "bfloat16", "float16"]
InpaintArea = Literal["whole", "masked"]
InpaintFill = Literal["original", "blur", "noise"]
MetadataKept = Literal["all", "a1111", "none"]
EARLIER_FILLS = {"picture": "original"}  # as in files of 0.1

PREVIEW_DECODERS = ("auto", "linear", "small")  # or a file

MAX_SEED = 2**63 - 1
MAX_COUNT = 10_000
MAX_PROMPT = 65_536  # characters
REFINER_AT = 0.8
HIRES_SCALE = 1.5
MOST_HIRES = 8.0
HIRES_STRENGTH = 0.5
REFINE_SCALE = 2.0
REFINE_STEPS = 10


@dataclass(frozen=True, slots=True)
class LoraFile(Value):
    """A LoRA as FILE or FILE:WEIGHT; the colon of a Windows drive letter does not count."""

    metavar: str = "FILE[:WEIGHT]"

    def read(self, value: object) -> "LoraRef":
        """File and weight."""
        return self.parse(Path().read(value))

    def parse(self, word: str) -> "LoraRef":
        """File and weight."""
        path, colon, last = word.rpartition(":")
        if path and math.isfinite(to_float(last)):
            return LoraRef(path=path, weight=to_float(last))
        if colon and path.lower().endswith(".safetensors"):
            raise ValueError(
                f"{shown(last)} is not a weight; expected a file and a number, such as style.safetensors:0.8"
            )
        return LoraRef(path=word)

    def to_setting(self, value: "LoraRef") -> str:
        """FILE:WEIGHT."""
        return f"{value.path}:{value.weight!r}"

    def to_arguments(self, value: "LoraRef") -> list[str]:
        """FILE:WEIGHT."""
        return [f"{value.path}:{plain_number(value.weight)}"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRef:
    """A model by its catalog id, or by the path of its folder or file."""

    id: str
    sha256: str | None = None  # hash over the sha256 of its weight files; if given, other files cause a notice
    vae: str | None = None  # file with another VAE; None: as chosen for the model, or found
    text_encoders: tuple[str, ...] = ()  # files with other text encoders, each in place of the one that it fits

    @property
    def parts(self) -> tuple[str, ...]:
        """The files that replace components of the model."""
        return ((self.vae,) if self.vae is not None else ()) + self.text_encoders

    def with_parts(self, change: Callable[[str], str]) -> "ModelRef":
        """Same with the path of each such file changed."""
        vae = None if self.vae is None else change(self.vae)
        return replace(self, vae=vae, text_encoders=tuple(map(change, self.text_encoders)))


@dataclass(frozen=True, slots=True, kw_only=True)
class LoraRef:
    """A LoRA file and its weight."""

    path: str
    weight: float = 1.0  # below 0: the opposite of its training
    sha256: str | None = None  # of the file; if given, a changed file is refused


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """One model at one size over one interval of noise levels."""

    model: ModelRef | None = None  # None: the previous stage's; for the first, the default model
    width: int | None = None  # pixels; None: the previous stage's times the transition's scale
    height: int | None = None
    until: float | None = None  # 0..1, part of the schedule after which it hands over; None: to the end
    sampling: Sampling = field(default_factory=Sampling)
    prompt: str | None = None  # None: the request's
    negative_prompt: str | None = None
    loras: tuple[LoraRef, ...] | None = None  # None: those of the request that fit its model
    weights: str | None = None  # safetensors or GGUF file with other denoiser weights


@dataclass(frozen=True, slots=True, kw_only=True)
class Transition:
    """How one stage's latents become the next one's."""

    space: Space = option(
        "latent",
        "hires-space",
        one_of(Space),
        group="refiner and hires fix",
        help="upscale latents or pixels",
        default="latent",
    )
    scale: float = option(  # of each side
        1.0,
        "hires",
        Number(1, MOST_HIRES, HIRES_SCALE, usual=4, metavar="SCALE"),
        group="refiner and hires fix",
        help="hires fix: a second pass at 1 to 8 times the size; from 3 on with --denoise-tile auto",
    )
    upscaler: str = option(  # a Resampling, or an upscaler, which works on pixels whatever the space
        "bicubic",
        "hires-upscaler",
        NameOrFile(metavar="METHOD|NAME|FILE", words=get_args(Resampling)),
        group="refiner and hires fix",
        help="upscaling method, or an upscaler by its name (`mezzotint upscale --list`) or file, which enlarges the "
        "decoded image",
        names=get_args(Resampling),
        default="bicubic",
    )
    upscaler_sha256: str | None = None  # of the upscaler's file; if given, a changed file is refused
    # denoising strength 0..1 of the next stage; None: continue where the last stopped
    strength: float | None = option(
        None,
        "hires-strength",
        Number(0, 1, HIRES_STRENGTH),
        group="refiner and hires fix",
        help="denoising strength of the second pass",
        default=str(HIRES_STRENGTH),
    )
    # whether the next stage's model is a conditional refiner, which is also given the clean latents of the last one
    refines: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Cascade:
    """A list of stages, and the transitions between them (one fewer)."""

    stages: tuple[Stage, ...] = (Stage(),)
    transitions: tuple[Transition, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageInput:
    """An input image and its role.

    A mask has the shape of the init image: white is inpainted, black or transparent is kept.
    """

    path: str
    role: ImageRole = "init"
    sha256: str | None = None  # of the file; if given, a changed file is refused
    weight: float = 1.0
    interval: tuple[float, float] = (0.0, 1.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Inpaint:
    """How the masked part of an init image is inpainted, and the outpainting margins."""

    area: InpaintArea = option(
        "whole",
        "inpaint-area",
        one_of(InpaintArea),
        group="inpainting and outpainting",
        help="whole: inpaint at the size of the whole image; masked: inpaint only the masked area with its padding, at "
        "full resolution, and paste it back",
        default="whole",
    )
    padding: int = option(
        32,
        "inpaint-padding",
        Integer(0, 4096, 32, metavar="PIXELS"),
        group="inpainting and outpainting",
        help="context around the mask with --inpaint-area masked",
        default="32",
    )
    feather: int = option(
        8,
        "inpaint-feather",
        Integer(0, 256, 8, metavar="PIXELS"),
        group="inpainting and outpainting",
        help="width of the soft edge inside the mask, or into the image when outpainting; more blends large areas "
        "better",
        default="8",
    )
    fill: InpaintFill = option(
        "original",
        "inpaint-fill",
        one_of(InpaintFill, EARLIER_FILLS),
        group="inpainting and outpainting",
        help="what the masked area starts from: the image itself, the colours around it, or noise",
        default="original",
    )
    left: int = 0  # pixels of outpainting on that side
    top: int = 0
    right: int = 0
    bottom: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """Output path: a file name, or a template with [tokens] such as [seed] or [date]; and previews."""

    path: str | None = option(  # None: the default template in the current folder; a folder: the default name in it
        None,
        "output",
        Path(metavar="PATH"),
        group="output",
        short="-o",
        in_jobs=False,
        help="a folder, a file name or a template with [tokens]; .png, .jpg, .webp",
        default="[date]-[time]-[seed].png",
    )
    overwrite: bool = option(  # False: a suffix avoids overwriting
        False,
        "overwrite",
        YesNo(switch=True),
        group="output",
        in_jobs=False,
        help="replace an existing file",
        default="use another name",
    )
    metadata: MetadataKept = option(
        "all",
        "metadata",
        one_of(MetadataKept),
        group="output",
        help="what images say of how they were made: all that repeats them, with names of files but no folders; only "
        "the text that A1111 writes and other programs read; or none",
        default="all",
    )
    required_folder: str | None = None  # must exist when an image is written, so that its disk is known to be there
    preview_folder: str | None = option(
        None,
        "preview-dir",
        Path(metavar="DIR"),
        group="output",
        key="preview",
        in_jobs=False,
        help="write a preview image of each step into this folder",
    )
    preview_decoder: str = option(
        "auto",
        "preview-decoder",
        WordOrFile(metavar="auto|linear|small|FILE", words=PREVIEW_DECODERS),
        group="output",
        in_jobs=False,
        help="what decodes previews: linear, a matrix from latents to colours, or small, a decoder such as TAESD, in "
        "safetensors; by its usual name in a folder vae_approx, or this file",
        default="auto: small if one is found, otherwise linear",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class GenerateRequest:
    """Everything that determines an image."""

    prompt: str
    styles: tuple[str, ...] = ()  # names of the styles that the prompts and options already include
    negative_prompt: str = option(
        "", "negative", Text(MAX_PROMPT), group="image", help="negative prompt", default="none"
    )
    cascade: Cascade = field(default_factory=Cascade)
    images: tuple[ImageInput, ...] = ()
    init_upscaler: str | None = option(
        None,
        "init-upscaler",
        NameOrFile(metavar="NAME|FILE"),
        group="image",
        help="an upscaler, by its name (`mezzotint upscale --list`) or file, that enlarges an init image smaller than "
        "the requested size",
        default="none: Lanczos",
    )
    init_upscaler_sha256: str | None = None  # of its file; if given, a changed file is refused
    strength: float | None = option(  # denoising strength for an init image
        None,
        "strength",
        Number(0, 1, 0.6),
        group="image",
        help="denoising strength of an init image",
        default="0.6; 1 where a masked part is filled first",
    )
    inpaint: Inpaint | None = None  # None: defaults, if there is a mask
    seed: int | None = option(
        None,
        "seed",
        Integer(0, MAX_SEED, 7),
        group="image",
        help="seed of the first image; the next ones count up",
        default="random",
    )
    count: int = option(1, "count", Integer(1, MAX_COUNT, 4), group="image", help="number of images", default="1")
    device: str = option(
        "auto",
        "device",
        Text(200, metavar="NAME"),
        group="performance",
        help="auto, cpu, cuda, cuda:1, xpu, mps",
        default="auto, the best one available",
    )
    dtype: Dtype = option(
        "auto",
        "dtype",
        one_of(Dtype),
        group="performance",
        help="floating-point format",
        default="auto: float32 on a CPU, 16 bits on a GPU",
    )
    attention: Attention = option(
        "auto",
        "attention",
        one_of(Attention),
        group="performance",
        help="flash, flash-fp16 (sums in 16 bits: faster on GeForce cards), int8 (scores in 8 bits: faster, "
        "less exact), int8-all, int8-fp8 (values, too) on NVIDIA cards; sdpa, reference everywhere; sparse is "
        "--sparse-attention",
        default="auto: flash where supported, otherwise sdpa",
    )
    quantization: Quantization = option(  # of the denoiser
        "auto",
        "quant",
        one_of(Quantization),
        group="performance",
        help="quantize the denoiser as it is loaded, cached for the next time",
        default="auto: none unless the card is too small",
    )
    text_quantization: Quantization = option(
        "auto", "quant-text", one_of(Quantization), group="performance", help="quantize the text encoders"
    )
    previews: bool = False  # a small JPEG with every step
    embeddings: tuple[str, ...] = option(
        (),
        "embedding",
        Listed(Path()),
        group="image",
        help="a textual inversion, used by its file name in the prompt (may be repeated)",
    )
    loras: tuple[LoraRef, ...] = option(  # each applies to every stage whose model it fits
        (),
        "lora",
        Listed(LoraFile()),
        group="image",
        help="a LoRA in safetensors and its weight (default: 1), such as style.safetensors:0.8 (may be repeated)",
    )
    controls: tuple[ControlRef, ...] = option(  # each applies to every stage whose model it fits
        (),
        "control",
        Listed(ControlImage()),
        group="image",
        help="a control image and the ControlNet that follows it, such as edges.png,model=canny.safetensors,weight=0.8 "
        "or an image prompt and its IP-Adapter or Redux (may be repeated); without model= for FLUX.1 Canny and Depth; "
        "further keys: start and end (parts of the steps, 0 to 1), type (of a union ControlNet, such as canny), "
        "preprocess (canny, lines, scribble, depth, pose, gray, tile), keep (yes: what is made of it is saved, too); "
        "encoder and mask of an IP-Adapter",
    )
    regions: tuple[RegionRef, ...] = option(  # of each stage
        (),
        "region",
        Listed(Region()),
        group="image",
        help="a box or mask of the image with a prompt of its own, such as 0,0,0.5,1,prompt=a red house for the left "
        "half (left, top, width, height as parts of the image) or mask.png,prompt=a red house (white: there; may be "
        "repeated); further key: weight (0 to 1, the rest is the image's prompt)",
    )
    details: tuple[DetailRef, ...] = option(
        (),
        "detail",
        Listed(Detail()),
        group="image",
        help="after decoding, find every LABEL, such as person, and inpaint it at the model's full size (may be "
        "repeated); keys: model (the detector, by name or folder), strength (default: 0.4), confidence (least score, "
        "0.5), padding (pixels around it, 32), prompt",
    )
    memory: MemoryPolicy = option(
        "auto",
        "memory",
        one_of(MemoryPolicy),
        group="memory",
        help="auto: the best quality that is not much slower; fast: the shortest time; balanced: between the two; "
        "lowest: the least VRAM",
        default="auto",
    )
    vram_limit_bytes: int | None = option(  # on a CPU: of a simulated GPU
        None,
        "vram-limit",
        MemorySize(metavar="SIZE|CARD"),
        group="memory",
        help="use at most this much VRAM, such as 6GB, or as much as a card has, such as 'RTX 3060'; on a CPU a card "
        "of that size is simulated",
    )
    ram_limit_bytes: int | None = option(
        None, "ram-limit", MemorySize(), group="memory", help="use at most this much RAM"
    )
    vae_tile: int | None = option(
        None,
        "vae-tile",
        Integer(0, 8192, 512, metavar="PIXELS"),
        group="memory",
        help="tile size for VAE decoding, which takes less memory; 0: no tiles",
        default="as planned",
    )
    compile: bool = option(
        False,
        "compile",
        YesNo(switch=True),
        group="performance",
        help="compile the denoiser's blocks: the first image of a size takes minutes, the next ones less time",
    )
    fast: bool = option(
        False,
        "fast",
        YesNo(switch=True),
        group="performance",
        help="float16 with float16 accumulation: faster on NVIDIA GeForce cards, slightly less exact",
    )
    cuda_graphs: CudaGraphs = option(
        "auto",
        "cuda-graphs",
        one_of(CudaGraphs),
        group="performance",
        help="capture each step as a CUDA graph where the whole denoiser is on an NVIDIA card",
        default="auto: off for now",
    )
    strict: bool = option(
        False,
        "strict",
        YesNo(switch=True),
        group="memory",
        help="when memory runs out, fail rather than change the image (smaller tiles, lower precision)",
    )
    output: Output = field(default_factory=Output)


@dataclass(frozen=True, slots=True, kw_only=True)
class GenerateManyRequest:
    """Several requests; compatible ones are batched, which is faster than one by one."""

    requests: tuple[GenerateRequest, ...]  # 1 to 64; those with a count above 1 run alone


@dataclass(frozen=True, slots=True, kw_only=True)
class DecodeRequest:
    """Request to decode an image whose latents a job left behind."""

    path: str  # of the latents file
    device: str = "auto"
    dtype: Dtype = "auto"  # auto: the job's
    vae_tile: int | None = None  # None: the job's
    output: Output = field(default_factory=Output)  # without a path: the job's target


def our_seed(seed: int | None) -> int | None:
    """Our seed for another program's, up to 2^64: torch takes the lowest 32 bits of it for noise on the CPU."""
    return seed % 2**32 if seed is not None and seed >= 2**32 else seed
