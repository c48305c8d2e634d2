"""LoRAs, embeddings, ControlNets and upscalers: files by name, in the folders of this program and of others."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from mezzotint.catalog.other_programs import part_folders
from mezzotint.catalog.places import Places

_MOST_FILES = 10_000
_DEEPEST = 4  # folders below these


@dataclass(frozen=True, slots=True, kw_only=True)
class FileKind:
    """Where files of a kind are: folders by ComfyUI's and A1111's names, and suffixes."""

    folders: tuple[str, ...]
    suffixes: tuple[str, ...] = (".safetensors",)


LORAS = FileKind(folders=("loras", "Lora"))
EMBEDDINGS = FileKind(folders=("embeddings",))  # of textual inversion; in A1111 beside the folder models
CONTROLNETS = FileKind(folders=("controlnet", "ControlNet"))
UPSCALERS = FileKind(
    folders=("upscale_models", "ESRGAN", "RealESRGAN", "SwinIR", "DAT", "HAT"), suffixes=(".safetensors", ".pth", ".pt")
)


def named_files(places: Places, kind: FileKind) -> dict[str, Path]:
    """The files by their name without suffix; of several with one name the first."""
    named = (*((places.models,) if places.models is not None else ()), *places.named)
    trained = () if places.models is None or kind is not LORAS else (places.models.parent / "loras",)
    folders = dict.fromkeys((*(folder for path in named for folder in part_folders(path, kind.folders)), *trained))
    found: dict[str, Path] = {}
    for path in _files(tuple(folders), kind.suffixes):
        if len(found) == _MOST_FILES:
            break
        found.setdefault(path.stem, path)
    return found


def _files(folders: Sequence[Path], suffixes: tuple[str, ...]) -> Iterator[Path]:
    for root in folders:
        for folder, inner, names in os.walk(root):
            inner[:] = sorted(inner) if len(Path(folder).relative_to(root).parts) < _DEEPEST else []
            yield from (Path(folder, name) for name in sorted(names) if name.lower().endswith(suffixes))
