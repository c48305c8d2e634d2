"""The Create page's stored state: prompts, and the user's settings for each model."""

from collections.abc import Iterable
from dataclasses import dataclass, field, fields, replace
from typing import Any

from mezzotint.library_protocol import Style
from mezzotint.option import declared
from mezzotint.protocol import (
    CudaGraphs,
    Dtype,
    GenerateRequest,
    ImageInput,
    Inpaint,
    LoraRef,
    Quantization,
    Sampling,
    Space,
)
from mezzotint.values.basic import Integer, Number
from mezzotint.values.details import DetailRef
from mezzotint.values.regions import RegionRef
from mezzotint_app.viewmodel.create.controls import ControlChoice

MOST_MODELS = 400  # with stored settings
DEFAULT_STRENGTH = 0.6  # denoising strength; keeps part of the existing image, as in the engine


@dataclass(frozen=True, slots=True, kw_only=True)
class LoraChoice:
    """A LoRA in the list; a disabled one keeps its position and weight."""

    path: str
    weight: float = 1.0
    on: bool = True
    sha256: str | None = None  # of the file, if from an image's metadata


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateSettings(Sampling):
    """The user's settings for one model; None is the model default."""

    width: int | None = None
    height: int | None = None
    aspect_locked: bool = False
    count: int = 1
    refiner: str | None = None
    refiner_at: float | None = None
    second_pass: bool = False
    second_scale: float | None = None
    second_strength: float | None = None
    second_space: Space | None = None
    second_upscaler: str | None = None
    init_upscaler: str | None = None
    refine_with: str | None = None
    refine_steps: int | None = None
    loras: tuple[LoraChoice, ...] = ()
    controls: tuple[ControlChoice, ...] = ()
    embeddings: tuple[str, ...] = ()
    regions: tuple[RegionRef, ...] = ()
    details: tuple[DetailRef, ...] = ()
    quantization: Quantization | None = None
    text_quantization: Quantization | None = None
    compile: bool = False
    fast: bool = False
    cuda_graphs: CudaGraphs | None = None
    # Without a control of their own; they come with an image's settings, and are shown as kept from there.
    weights: str | None = None
    vae: str | None = None
    text_encoders: tuple[str, ...] = ()
    dtype: Dtype | None = None
    vae_tile: int | None = None
    strict: bool = False


_SAMPLING = declared(Sampling)
_WITHOUT_CONTROL = tuple(name for name, one in _SAMPLING.items() if not one.label and one.scope != "refining")
_VARIATION = ("variation_seed", "variation_strength")
KEPT_FROM_IMAGES = (*_VARIATION, *_WITHOUT_CONTROL, "weights", "vae", "text_encoders", "dtype", "vae_tile", "strict")
_UNSET = CreateSettings()
_NUMBERS = (
    *(name for name, one in _SAMPLING.items() if isinstance(one.takes, Integer | Number) and name not in _VARIATION),
    *("width", "height", "count", "refiner_at", "second_scale", "second_strength", "refine_steps", "vae_tile"),
)
_FARTHEST = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """A finished image."""

    path: str
    seed: int
    width: int
    height: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateState:
    """The page's state as stored in a file."""

    model: str = ""  # empty: the default model
    prompt: str = ""
    negative_prompt: str = ""
    styles: tuple[Style, ...] = ()  # whose texts surround the prompts
    seed: int | None = None  # displayed; None: none used yet
    seed_fixed: bool = False  # False: random for each Generate
    count: int | None = None  # images, for all models; None: as in `per_model`, from an older version
    per_model: dict[str, CreateSettings] = field(default_factory=dict)
    history: tuple[str, ...] = ()  # prompts, newest first
    open_folds: tuple[str, ...] = ()
    results: tuple[Result, ...] = ()  # the last images, newest first
    made: GenerateRequest | None = None  # last request, with the seed of its image
    images: tuple[ImageInput, ...] = ()  # init image and mask
    strength: float | None = None
    inpaint: Inpaint | None = None


def own_files(state: CreateState) -> frozenset[str]:
    """Return the paths of images that settings refer to, such as masks of regions."""
    every = state.per_model.values()
    controls = (path for one in every for control in one.controls for path in (control.image, control.mask))
    masks = (region.mask for one in every for region in one.regions)
    return frozenset(path for path in (*controls, *masks) if path)


def settings_of(state: CreateState, model: str) -> CreateSettings:
    """Return a model's settings, or the defaults if nothing was changed."""
    kept = state.per_model.get(model, _UNSET)
    return within_reach(kept if state.count is None else replace(kept, count=state.count))


def within_reach(settings: CreateSettings) -> CreateSettings:
    """Reset numbers beyond the range of the controls, which a file or image may contain."""
    beyond = [name for name in _NUMBERS if abs(getattr(settings, name) or 0) > _FARTHEST]
    heavy = any(abs(one.weight) > _FARTHEST for one in settings.loras)
    if beyond:
        settings = without(settings, beyond)
    if heavy:
        loras = (replace(one, weight=1.0) if abs(one.weight) > _FARTHEST else one for one in settings.loras)
        settings = replace(settings, loras=tuple(loras))
    return settings


def with_settings(state: CreateState, model: str, settings: CreateSettings) -> dict[str, CreateSettings]:
    """Return all models' settings with one model's replaced; default settings are not stored."""
    others = {name: kept for name, kept in state.per_model.items() if name != model}
    if settings == _UNSET:
        return others
    while len(others) >= MOST_MODELS:
        del others[next(iter(others))]  # the least recently changed
    return {**others, model: settings}


def without(settings: CreateSettings, names: Iterable[str]) -> CreateSettings:
    """Return the settings with these fields reset to the model default."""
    values: dict[str, Any] = {name: getattr(_UNSET, name) for name in names}
    return replace(settings, **values)


def names_of_settings() -> tuple[str, ...]:
    """Return the names of all fields."""
    return tuple(one.name for one in fields(CreateSettings))


def loras_in_use(settings: CreateSettings) -> tuple[LoraRef, ...]:
    """Return the enabled LoRAs as in a request."""
    return tuple(LoraRef(path=one.path, weight=one.weight, sha256=one.sha256) for one in settings.loras if one.on)


def with_lora(loras: tuple[LoraChoice, ...], path: str) -> tuple[LoraChoice, ...]:
    """Return the list with a LoRA added at full weight, or enabled if already listed."""
    if any(one.path == path for one in loras):
        return tuple(replace(one, on=True) if one.path == path else one for one in loras)
    return (*loras, LoraChoice(path=path))
