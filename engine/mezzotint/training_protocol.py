"""Protocol types for training: what to train, what happens meanwhile, what comes out. Standard library only."""

from dataclasses import dataclass, field
from typing import Literal

from mezzotint.request_protocol import Attention, ModelRef

LayerKind = Literal["lora", "dora", "lokr"]
AdapterKind = Literal["lora", "dora", "lokr", "embedding"]
TrainedLayers = Literal["attention", "all"]
LossWeighting = Literal["none", "min-snr", "debiased"]
NoiseLevelChoice = Literal["uniform", "logit-normal"]
OptimizerName = Literal[
    "adamw", "adamw-8bit", "adamw-8bit-paged", "adamw-4bit", "adafactor", "lion", "prodigy", "schedule-free"
]
RateSchedule = Literal["constant", "cosine"]
Checkpointing = Literal["none", "selective", "blocks", "sqrt"]
BaseQuantization = Literal["none", "int8", "int8-weight", "int4", "int4-lowrank"]
Shard = Literal["none", "optimizer", "gradients", "parameters"]
TrainingDtype = Literal["auto", "float32", "bfloat16", "float16"]
PhaseName = Literal["text", "images", "network", "samples"]
TrainingAttention = Literal["auto", "flash", "sdpa", "reference"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingSettings:
    """How an adapter is trained; None: the preset of the model's family."""

    kind: AdapterKind = "lora"
    steps: int | None = None
    rank: int | None = None
    alpha: float | None = None  # None: the rank
    layers: TrainedLayers = "attention"
    ranks: str = ""  # of some layers, by parts of their names: down_blocks=4,mid_block=16; 0: not trained
    factor: int | None = None  # of a LoKr: size of its smaller factor; None: about equal sizes
    text_encoders: bool = False  # are trained, too
    text_rate: float | None = None  # their learning rate; None: a tenth of the other
    vectors: int = 1  # of an embedding
    rate: float | None = None  # learning rate
    batch: int | None = None  # images per step, with regularization images
    accumulate: int = 1  # batches per optimizer step
    resolution: int | None = None  # pixels; area of a square of this side
    optimizer: OptimizerName | None = None  # None: adamw, or adamw-8bit where memory needs it
    schedule: RateSchedule = "constant"
    levels: NoiseLevelChoice | None = None  # of flow models
    weighting: LossWeighting | None = None  # of other models
    ema: float = 0.0  # decay of the moving average of the factors; 0: none
    checkpointing: Checkpointing | None = None  # None: as memory needs
    offload_activations: bool | None = None  # of checkpointed blocks, to RAM; None: as memory needs
    quantization: BaseQuantization | None = None  # of the frozen denoiser; None: as memory needs
    stream_blocks: int | None = None  # blocks of the frozen denoiser that stay in RAM; None: as memory needs
    dtype: TrainingDtype = "auto"
    attention: TrainingAttention = "auto"
    device: str = "auto"
    devices: tuple[str, ...] = ()  # several: one process on each
    shard: Shard = "none"  # what is split over the devices; each includes those before
    seed: int = 0
    epochs: int = 10  # LoRAs saved during training, at equal distances
    flip: bool = False
    caption_dropout: float = 0.05
    shuffle: bool = False  # of captions with commas
    keep_tokens: int = 1
    prefix: str = ""
    regularization: int | None = None  # images made by the model itself; None: by the preset; 0: none
    validation: float = 0.0  # share of the images that is kept aside
    distill: int = 0  # images that the model makes itself of a file's prompts, to learn to make them in few steps


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingRequest:
    """A LoRA to train."""

    dataset: str  # folder
    model: ModelRef
    name: str
    output: str  # folder of the LoRA, and of the run's own folder
    trigger: str = ""  # a word put before each caption that lacks it
    word: str = ""  # what the trigger word stands for, such as castle: the captions of regularization images have it
    prompts: tuple[str, ...] = ()  # of sample images
    settings: TrainingSettings = field(default_factory=TrainingSettings)


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingJob:
    """A training to begin, or one to go on with."""

    request: TrainingRequest | None = None  # None: that of the run
    resume: str | None = None  # folder of a run that was paused or interrupted
    accept_changes: bool = False  # resume although the dataset has changed


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingLevers:
    """What makes a training need less memory."""

    checkpointing: Checkpointing = "none"
    optimizer: OptimizerName = "adamw"
    quantization: BaseQuantization = "none"
    offload_activations: bool = False  # inputs of checkpointed blocks are kept in RAM
    stream_blocks: int = 0  # of the frozen denoiser, that stay in RAM
    batch: int = 1  # images in each pass
    accumulate: int = 1  # passes in each step
    text_on_cpu: bool = False  # text encoders run on the CPU
    vae_tile: int = 0  # pixels; images are encoded and decoded in tiles of this side; 0: as a whole


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingPhase:
    """Bytes on the device in a phase of a training."""

    name: PhaseName
    parameters: int  # weights, and factors with their average
    gradients: int
    optimizer: int
    activations: int
    peak: int  # all of it, with what the driver takes


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingPlan:
    """The memory of a training, predicted, and what it takes to fit."""

    fits: bool
    vram_bytes: int  # of the device
    peak_bytes: int  # of the phase that needs most
    levers: TrainingLevers
    phases: tuple[TrainingPhase, ...]
    summary: str  # one line
    reasons: tuple[str, ...]  # for each lever; if it does not fit, what would


@dataclass(frozen=True, slots=True, kw_only=True)
class Preparing:
    """Event: something before the first step."""

    phase: Literal["dataset", "regularization", "captions", "images", "loading", "pairs", "blocks"]
    done: int
    total: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingStep:
    """Event: an optimizer step is done."""

    step: int  # from 1
    steps: int
    loss: float
    rate: float
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class EpochSaved:
    """Event: a LoRA of the factors so far is on disk."""

    epoch: int  # from 1
    step: int
    path: str
    validation: float | None  # loss on the images that were kept aside, or None
    samples: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingNotice:
    """Event: information for the user; the training continues."""

    code: str
    message: str


TrainingEvent = Preparing | TrainingStep | EpochSaved | TrainingNotice


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingResult:
    """A finished or stopped training."""

    lora: str
    folder: str  # of the run
    steps: int
    epochs: tuple[EpochSaved, ...]
    loss: float  # mean of the last tenth of the steps
    attention: Attention  # what ran
    seconds: float
    peak_vram_bytes: int | None
    peak_ram_bytes: int
    plan: TrainingPlan | None = None  # what was predicted before


# ---- the library service: a dataset before training, and runs on disk


@dataclass(frozen=True, slots=True, kw_only=True)
class DatasetImage:
    """An image of a dataset, and what is used of it."""

    path: str
    width: int
    height: int
    captions: tuple[str, ...]  # alternatives
    box: tuple[float, float, float, float]  # left, top, right, bottom of what is used, in pixels
    used_width: int  # pixels that it is trained with
    used_height: int
    regularization: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class DatasetProblem:
    """Something wrong with a file or folder; after an error, the file is left out."""

    path: str
    severity: Literal["error", "warning"]
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingValues:
    """What settings and preset come to."""

    steps: int
    rank: int
    rate: float
    batch: int
    resolution: int
    regularization: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingCheck:
    """What a training would see and do."""

    images: tuple[DatasetImage, ...]  # those with problems first; of a large dataset only the first
    count: int  # images to learn from
    regularization: int  # further images, which keep the model from forgetting
    captioned: int  # of both
    problems: tuple[DatasetProblem, ...]  # errors first
    values: TrainingValues | None  # None if it cannot be trained
    problem: str = ""  # why it cannot be trained
    disk_bytes: int = 0  # estimate


@dataclass(frozen=True, slots=True, kw_only=True)
class CaptionEdit:
    """Captions to write into the text file beside an image."""

    image: str
    captions: tuple[str, ...]  # one a line


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingRuns:
    """Where to look for runs."""

    folders: tuple[str, ...]  # that contain the folders of runs


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingLoss:
    """The loss of a step, or the mean of several around it."""

    step: int
    loss: float


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingRunInfo:
    """A run as it is on disk."""

    folder: str
    request: TrainingRequest
    started: str  # ISO 8601
    step: int
    steps: int  # 0: not known
    lora: str | None  # of a finished training
    epochs: tuple[EpochSaved, ...]
    base_samples: tuple[str, ...]  # of the model without the LoRA
    losses: tuple[TrainingLoss, ...]
    seconds: float  # per step; 0: not known
    paused_lora: str | None = None  # of the step at which it was paused
