"""Protocol types for models and devices. Standard library only."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from mezzotint.memory_protocol import FastModel

Guidance = Literal["cfg", "embedded"]
_OTHERWISE = ("refiner", "inpaint")  # variants for other work


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelDefaults:
    """A model's recommended settings."""

    width: int
    height: int
    steps: int
    guidance_scale: float
    sampler: str = ""  # its own, by our names; empty: unknown
    schedule: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelPart:
    """One component of a model, as stored in its files."""

    name: str
    bytes: int
    layers: dict[str, int]  # number of layers by weight precision: int8, int4, float16
    file: str = ""  # a file of its own; empty: in the model's files
    chosen: bool = False  # by the user, not automatically
    trunk: str = ""  # FOLDER/COMPONENT whose weights its file only adds to; bytes are those of whole weights then


@dataclass(frozen=True, slots=True, kw_only=True)
class PartFiles:
    """A component of a model that can be read from a file of its own, and the files for it."""

    component: str  # vae, text_encoder
    file: str  # in use; empty: in the model's own files, or none
    chosen: bool  # by the user, not automatically
    fitting: tuple[str, ...]  # all files found that fit


@dataclass(frozen=True, slots=True, kw_only=True)
class PartChoice:
    """Request to choose the file of a model's component."""

    model: str
    component: str
    file: str | None  # None: chosen automatically


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelInfo:
    """A model as the catalog lists it."""

    id: str
    path: str
    layout: Literal["folder", "file"]
    family: str  # empty: refused
    variant: str
    bytes: int
    source: str  # bundled, models, folder, huggingface, a1111, comfyui, path
    defaults: ModelDefaults | None
    problem: str | None  # why it is refused
    scheme: str = ""  # of the denoiser, if it is quantized: int8, int4
    parts: tuple[ModelPart, ...] = ()  # only for a single model, not in lists
    hidden: bool = False  # hidden from lists by the user
    references: int = 0  # maximum number of reference images
    guidance: Guidance = "cfg"  # embedded: the network is given the scale, and has no negative prompt
    conditional_refiner: bool = False  # it enlarges finished images, and generates none by itself
    prediction_type: str = ""  # what its network predicts: epsilon, v_prediction, flow_prediction; empty: unknown
    prediction_reason: str = ""  # what says so
    notices: tuple[str, ...] = ()  # what is only assumed of it, and settings beside it that are not used


def faster_models(model: ModelInfo, models: Iterable[ModelInfo]) -> tuple[FastModel, ...]:
    """Return the models that could take the place of one: of its kind and size, with at most half its steps."""
    own = model.defaults
    if own is None or model.references or model.variant in _OTHERWISE:
        return ()
    return tuple(
        FastModel(id=one.id, steps=one.defaults.steps, guided=one.defaults.guidance_scale > 1 and one.guidance == "cfg")
        for one in models
        if one.family == model.family
        and one.defaults is not None
        and one.problem is None
        and not one.hidden
        and not one.references
        and not one.conditional_refiner
        and one.variant not in _OTHERWISE
        and one.defaults.width == own.width
        and one.defaults.steps * 2 <= own.steps
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class HubSearch:
    """Request to search the hub for image models by words of their names."""

    words: str
    endpoint: str | None = None  # None: HF_ENDPOINT or the hub


@dataclass(frozen=True, slots=True, kw_only=True)
class HubModel:
    """A model that the hub found; everything here is what its owner states."""

    id: str  # owner/name
    family: str  # empty if it cannot be told
    runs: bool | None  # whether this version of Mezzotint supports it; None if that cannot be told
    licence: str
    downloads: int | None  # of the last month
    bytes: int | None  # of everything in the repository, of which only some files are downloaded
    gated: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceInfo:
    """A device that can run models."""

    id: str
    name: str
    memory_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineInfo:
    """Versions, devices and threads of the engine."""

    schema_version: int
    version: str
    versions: dict[str, str]
    devices: tuple[DeviceInfo, ...]
    threads: int
