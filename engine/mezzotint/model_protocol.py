"""The boundary's part about models and the machines that run them. Standard library only."""

from dataclasses import dataclass
from typing import Literal

Guidance = Literal["cfg", "embedded"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelDefaults:
    """What a model is best run with when nothing is said."""

    width: int
    height: int
    steps: int
    guidance_scale: float
    sampler: str = ""  # its own, by their usual names; empty: not known
    schedule: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelPart:
    """One network of a model, as its files hold it."""

    name: str
    bytes: int
    layers: dict[str, int]  # how many have weights of each precision: int8, int4, float16


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
    scheme: str = ""  # of the network that makes images, where it is quantized: int8, int4
    parts: tuple[ModelPart, ...] = ()  # told when one model is looked at, not in lists
    hidden: bool = False  # taken off the list by the person
    references: int = 0  # reference images at most
    guidance: Guidance = "cfg"  # embedded: the network is given the scale, and has no negative prompt


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceInfo:
    """A device that can run models."""

    id: str
    name: str
    memory_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineInfo:
    """What the engine is and runs on."""

    schema_version: int
    version: str
    versions: dict[str, str]
    devices: tuple[DeviceInfo, ...]
    threads: int
