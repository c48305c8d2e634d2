"""A place where models lie, and a model that lies there; nothing of it is opened yet."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Source = Literal["bundled", "models", "folder", "huggingface", "a1111", "comfyui", "path"]
Layout = Literal["folder", "file"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A folder to look for models in, or a single model."""

    path: Path
    source: Source


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A folder or file that may be a model."""

    path: Path
    layout: Layout
    source: Source
    name: str  # short, without a suffix
    long_name: str  # with the folders below the place, for when two share the short one


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What lies in a place, and what a person should know of the search."""

    candidates: tuple[Candidate, ...] = ()
    notices: tuple[str, ...] = ()


def at_home(path: Path) -> Path:
    """The path with a leading `~` replaced; as it is, when there is no such home."""
    try:
        return path.expanduser()
    except RuntimeError:
        return path
