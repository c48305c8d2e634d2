"""Settings that suit each family, and models that cannot be trained, with the reason.

Where a value is not our own measurement, it is what kohya's scripts, OneTrainer and ai-toolkit use by default.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from mezzotint.errors import UsageError
from mezzotint.families.family import ModelSources
from mezzotint.families.samplers import own_prediction
from mezzotint.training_protocol import LossWeighting, NoiseLevelChoice, TrainingSettings

_SMALL = 64 * 2**20  # bytes of a denoiser below which a model is one of the small ones that a CPU trains
_DISTILLED = frozenset({"turbo", "lightning", "lcm", "schnell", "distilled", "flash", "sprint", "hyper", "dmd2"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Preset:
    """What is used where the request leaves a setting open."""

    rank: int = 16
    rate: float = 1e-4
    batch: int = 1
    steps: int | None = None  # None: a hundred for each image
    levels: NoiseLevelChoice = "logit-normal"
    weighting: LossWeighting = "min-snr"
    regularization: int | None = None  # None: as many as there are images


_PRESETS: Mapping[str, Preset] = {
    "sdxl": Preset(),
    "sd15": Preset(),
    "pixart": Preset(levels="uniform"),
    "flux2-klein": Preset(rate=5e-5),
}
_SMALL_PRESET = Preset(rank=8, rate=2e-3, batch=16, steps=150, levels="uniform", regularization=32)
_PER_IMAGE, _LEAST_STEPS, _MOST_STEPS = 100, 500, 3000
_MOST_REGULARIZATION = 32
_TEXT_SHARE = 0.1  # of the learning rate, for text encoders: 1e-5 beside 1e-4, as kohya's documents advise
_EMBEDDING_RATE = 2e-3  # what diffusers' example comes to: 5e-4, scaled by four accumulated batches
_SMALL_CONSISTENCY_RATE = 2e-4  # at 1e-3 it collapsed within 300 steps
_PRODIGY_RATE = 1.0  # a factor of the rate that Prodigy finds itself


def preset_of(sources: ModelSources) -> Preset:
    """The preset for a model. Raises UsageError if it cannot be trained, and says which can."""
    variant = sources.detected.variant
    if variant.split("-")[0] in _DISTILLED:
        raise UsageError(
            f"this is a {sources.family} model of the variant {variant}, distilled to few steps: training undoes that; "
            "train on the model that it was made from, and use the LoRA with both"
        )
    if sources.family == "qwen-image-edit":
        raise UsageError(
            "this model learns from pairs of images and instructions, which cannot be trained here; train on Qwen-Image"
        )
    if sources.takes_mask:
        raise UsageError(f"this is an inpainting model ({sources.family} {variant}); train on the ordinary model")
    if sources.takes_control:
        raise UsageError(f"this model takes a control image ({sources.family} {variant}); train on the ordinary model")
    if sources.detected.conditional_refiner:
        raise UsageError(f"this is a conditional refiner ({sources.family} {variant}); train on an ordinary model")
    denoiser = next(part for name, part in sources.components.items() if name in ("unet", "transformer"))
    return usual_preset(sources.family, denoiser.bytes)


def usual_preset(family: str, denoiser_bytes: int) -> Preset:
    """The preset for a denoiser of this size."""
    return _SMALL_PRESET if denoiser_bytes < _SMALL else _PRESETS.get(family, Preset())


def distilling(preset: Preset, sources: ModelSources, settings: TrainingSettings) -> Preset:
    """The preset for distilling to few steps; raises UsageError for what cannot be distilled."""
    if settings.kind != "lora" or settings.text_encoders or settings.devices or settings.flip or settings.validation:
        raise UsageError("--distill trains LoRAs of denoisers on one device: leave --kind, --text-encoders, ... out")
    is_flow = own_prediction(sources.scheduler) == "flow_prediction"
    return imitating(preset, small_rate=1e-3 if is_flow else _SMALL_CONSISTENCY_RATE)


def imitating(preset: Preset, *, small_rate: float = 1e-3) -> Preset:
    """The preset for learning from what a model itself makes; `small_rate`: of small models."""
    is_small = preset is _SMALL_PRESET
    return replace(
        preset,
        rank=32 if is_small else 64,
        rate=small_rate if is_small else 1e-4,
        batch=max(preset.batch, 4),
        steps=1000 if is_small else 3000,
        levels="uniform",
        regularization=0,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolved:
    """Every value of a training, with nothing left open."""

    steps: int
    rank: int
    alpha: float
    rate: float
    text_rate: float  # of text encoders, if they are trained
    batch: int
    resolution: int
    levels: NoiseLevelChoice
    weighting: LossWeighting
    regularization: int


def _usual_rate(settings: TrainingSettings, preset: Preset) -> float:
    if settings.optimizer == "prodigy":
        return _PRODIGY_RATE
    return _EMBEDDING_RATE if settings.kind == "embedding" else preset.rate


def resolved(settings: TrainingSettings, preset: Preset, *, images: int, side: int, processes: int = 1) -> Resolved:
    """Fill in what the settings leave open; `side`: the model's own image size. Raises UsageError for bad values."""
    steps = settings.steps or preset.steps or min(max(images * _PER_IMAGE, _LEAST_STEPS), _MOST_STEPS)
    rank = settings.rank or preset.rank
    usual = min(images, _MOST_REGULARIZATION) if preset.regularization is None else preset.regularization
    if settings.kind == "embedding":  # nothing is forgotten: the networks stay as they are
        usual = 0
    rate = settings.rate or _usual_rate(settings, preset)
    found = Resolved(
        steps=steps,
        rank=rank,
        alpha=rank if settings.alpha is None else settings.alpha,
        rate=rate,
        text_rate=settings.text_rate or rate * _TEXT_SHARE,
        batch=settings.batch or max(preset.batch, processes),
        resolution=settings.resolution or side,
        levels=settings.levels or preset.levels,
        weighting=settings.weighting or preset.weighting,
        regularization=usual if settings.regularization is None else settings.regularization,
    )
    for name, value, low, high in (
        ("steps", found.steps, 1, 1_000_000),
        ("rank", found.rank, 1, 512),
        ("alpha", found.alpha, 1e-3, 4096),
        ("learning rate", found.rate, 1e-8, 1.0),
        ("text rate", found.text_rate, 1e-9, 1.0),
        ("factor", settings.factor or 1, 1, 4096),
        ("vectors", settings.vectors, 1, 75),
        ("batch", found.batch, 1, 256),
        ("accumulate", settings.accumulate, 1, 1024),
        ("resolution", found.resolution, 64, 4096),
        ("epochs", settings.epochs, 1, 1000),
        ("caption dropout", settings.caption_dropout, 0.0, 1.0),
        ("validation", settings.validation, 0.0, 0.5),
        ("ema", settings.ema, 0.0, 0.99999),
    ):
        if not low <= value <= high:
            raise UsageError(f"{name} is {value:g}; it must be {low:g} to {high:g}")
    if settings.optimizer == "schedule-free" and (settings.ema or settings.schedule != "constant"):
        raise UsageError("schedule-free averages the weights in place of a schedule: leave --ema and --schedule out")
    return found
