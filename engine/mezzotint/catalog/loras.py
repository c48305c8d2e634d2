"""LoRA files by name, in the folders of this program and of others."""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from mezzotint.catalog.other_programs import part_folders
from mezzotint.catalog.places import Places

LORA_FOLDERS = ("loras", "Lora")  # ComfyUI's name, and A1111's
_MOST_FILES = 10_000
_DEEPEST = 4  # folders below these


def loras_in(places: Places) -> dict[str, Path]:
    """The LoRA files by their name without suffix; of several with one name the first."""
    named = (*((places.models,) if places.models is not None else ()), *places.named)
    folders = dict.fromkeys(folder for path in named for folder in part_folders(path, LORA_FOLDERS))
    found: dict[str, Path] = {}
    for path in _files(tuple(folders)):
        if len(found) == _MOST_FILES:
            break
        found.setdefault(path.stem, path)
    return found


def _files(folders: Sequence[Path]) -> Iterator[Path]:
    for root in folders:
        for folder, inner, names in os.walk(root):
            inner[:] = sorted(inner) if len(Path(folder).relative_to(root).parts) < _DEEPEST else []
            yield from (Path(folder, name) for name in sorted(names) if name.lower().endswith(".safetensors"))
