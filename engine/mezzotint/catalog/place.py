"""Places with models, and candidates found in them; nothing is opened yet."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Source = Literal["bundled", "models", "folder", "huggingface", "a1111", "comfyui", "path"]
Layout = Literal["folder", "file"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A folder to scan for models, or a single model."""

    path: Path
    source: Source


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A folder or file that may be a model."""

    path: Path
    layout: Layout
    source: Source
    name: str  # short, without a suffix
    long_name: str  # with the folders below the place, for duplicate short names
    listed: bool = True  # whether lists have it unless the user hides it


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """The candidates in a place, and notices for the user."""

    candidates: tuple[Candidate, ...] = ()
    notices: tuple[str, ...] = ()


TRAINING_SUFFIX = ".training"  # of the folder of a training, beside its LoRA


def is_searched(name: str) -> bool:
    """Whether a folder of that name may hold models; the caches and states of trainings have files like some."""
    return not name.startswith(".") and not name.lower().endswith(TRAINING_SUFFIX)


def at_home(path: Path) -> Path:
    """Expand a leading `~`; unchanged if there is no such home."""
    try:
        return path.expanduser()
    except RuntimeError:
        return path
