"""Footprints shipped with the program: planning for these models needs neither weights nor libraries."""

import functools
import json
from importlib import resources
from importlib.resources.abc import Traversable
from typing import Any

from mezzotint.memory.footprints.footprint import ComponentFootprint, ModelFootprint
from mezzotint.memory.footprints.footprint_json import component_from_json, model_from_json

_ALIASES = {
    "sdxl-base": "sdxl",
    "pixart-sigma": "pixart",
    "sd3.5": "sd3.5-large",
    "sd3.5-l": "sd3.5-large",
    "flux.1": "flux",
    "flux.1-dev": "flux",
    "flux-dev": "flux",
    "qwen": "qwen-image",
    "refiner": "sdxl-refiner",
}
_SUFFIX = ".footprint.json"


def shipped_names() -> tuple[str, ...]:
    """Sorted names of all shipped models, without aliases."""
    return tuple(sorted(path.name.removesuffix(_SUFFIX) for path in _files()))


def shipped(name: str) -> ModelFootprint:
    """Return a model's footprint by name or alias; raises KeyError if there is none."""
    return model_from_json(_read(_name(name)))


def is_shipped(name: str) -> bool:
    """Whether there is a footprint with this name or alias."""
    return _name(name) in shipped_names()


def known_graph(key: str) -> ComponentFootprint | None:
    """Return the shipped component with this graph hash, or None."""
    found = _graphs().get(key)
    if found is None:
        return None
    name, index = found
    return component_from_json(_read(name)["components"][index])


def _name(name: str) -> str:
    plain = name.strip().lower()
    return _ALIASES.get(plain, plain)


def _folder() -> Traversable:
    return resources.files("mezzotint.memory.footprints") / "data"


def _files() -> list[Traversable]:
    return [path for path in _folder().iterdir() if path.name.endswith(_SUFFIX)]


@functools.cache
def _read(name: str) -> dict[str, Any]:
    if name not in shipped_names():
        raise KeyError(name)
    told: dict[str, Any] = json.loads((_folder() / f"{name}{_SUFFIX}").read_text("utf-8"))
    return told


@functools.cache
def _graphs() -> dict[str, tuple[str, int]]:
    """Map from graph hashes to model names and component indices."""
    return {
        part["graph"]: (name, index)
        for name in reversed(shipped_names())
        for index, part in enumerate(_read(name)["components"])
    }
