"""What the Create page remembers: the words, and for every model what a person has set for it."""

from collections.abc import Iterable
from dataclasses import dataclass, field, fields, replace
from typing import Any

from mezzotint.option import declared
from mezzotint.option_values import Integer, Number
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
    Upscaler,
)

MOST_MODELS = 400  # whose settings are kept


@dataclass(frozen=True, slots=True, kw_only=True)
class LoraChoice:
    """A LoRA in the list; one that is off keeps its place and its weight."""

    path: str
    weight: float = 1.0
    on: bool = True
    sha256: str | None = None  # of the file, where an image named it


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateSettings(Sampling):
    """What a person has set for one model; `None` is the model default."""

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
    second_upscaler: Upscaler | None = None
    loras: tuple[LoraChoice, ...] = ()
    embeddings: tuple[str, ...] = ()
    quantization: Quantization | None = None
    text_quantization: Quantization | None = None
    compile: bool = False
    fast: bool = False
    cuda_graphs: CudaGraphs | None = None
    # Without a control of their own; they come with an image's settings, and are shown as kept from there.
    weights: str | None = None
    dtype: Dtype | None = None
    vae_tile: int | None = None
    strict: bool = False


_SAMPLING = declared(Sampling)
_WITHOUT_CONTROL = tuple(name for name, one in _SAMPLING.items() if not one.label)
KEPT_FROM_IMAGES = (*_WITHOUT_CONTROL, "weights", "dtype", "vae_tile", "strict")
_UNSET = CreateSettings()
_NUMBERS = (
    *(name for name, one in _SAMPLING.items() if isinstance(one.takes, Integer | Number)),
    *("width", "height", "count", "refiner_at", "second_scale", "second_strength", "vae_tile"),
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
    """The page as it was left; kept in a file."""

    model: str = ""  # empty: the default
    prompt: str = ""
    negative_prompt: str = ""
    seed: int | None = None  # that is shown; None: none was used yet
    seed_fixed: bool = False  # False: each Generate draws another
    count: int | None = None  # of images, for every model; None: as `per_model` has it, from an older version
    per_model: dict[str, CreateSettings] = field(default_factory=dict)
    history: tuple[str, ...] = ()  # of prompts, the newest first
    open_folds: tuple[str, ...] = ()
    results: tuple[Result, ...] = ()  # the last images, the newest first
    made: GenerateRequest | None = None  # with the seed of the last image
    images: tuple[ImageInput, ...] = ()  # to begin from, with what is said of them
    strength: float | None = None
    inpaint: Inpaint | None = None


def settings_of(state: CreateState, model: str) -> CreateSettings:
    """What is set for a model; nothing, where it was never touched."""
    kept = state.per_model.get(model, _UNSET)
    return within_reach(kept if state.count is None else replace(kept, count=state.count))


def within_reach(settings: CreateSettings) -> CreateSettings:
    """Without numbers that no control could show: a file or an image may hold any."""
    beyond = [name for name in _NUMBERS if abs(getattr(settings, name) or 0) > _FARTHEST]
    heavy = any(abs(one.weight) > _FARTHEST for one in settings.loras)
    if beyond:
        settings = without(settings, beyond)
    if heavy:
        loras = (replace(one, weight=1.0) if abs(one.weight) > _FARTHEST else one for one in settings.loras)
        settings = replace(settings, loras=tuple(loras))
    return settings


def with_settings(state: CreateState, model: str, settings: CreateSettings) -> dict[str, CreateSettings]:
    """Those of all models, with these for one; settings that say nothing take no room."""
    others = {name: kept for name, kept in state.per_model.items() if name != model}
    if settings == _UNSET:
        return others
    while len(others) >= MOST_MODELS:
        del others[next(iter(others))]  # that was changed the longest ago
    return {**others, model: settings}


def without(settings: CreateSettings, names: Iterable[str]) -> CreateSettings:
    """The settings with these fields back to the model default."""
    values: dict[str, Any] = {name: getattr(_UNSET, name) for name in names}
    return replace(settings, **values)


def names_of_settings() -> tuple[str, ...]:
    """All fields."""
    return tuple(one.name for one in fields(CreateSettings))


def loras_in_use(settings: CreateSettings) -> tuple[LoraRef, ...]:
    """Those that are on, as a request names them."""
    return tuple(LoraRef(path=one.path, weight=one.weight, sha256=one.sha256) for one in settings.loras if one.on)


def with_lora(loras: tuple[LoraChoice, ...], path: str) -> tuple[LoraChoice, ...]:
    """The list with one more at full weight; one that is in it already is on."""
    if any(one.path == path for one in loras):
        return tuple(replace(one, on=True) if one.path == path else one for one in loras)
    return (*loras, LoraChoice(path=path))
