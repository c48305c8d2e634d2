"""Networks that look at images, by purpose: folders in transformers' layout among the models."""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Literal

from mezzotint.catalog.huggingface import PREFIX, snapshot_of
from mezzotint.catalog.other_programs import part_folders
from mezzotint.catalog.places import Places
from mezzotint.checkpoints.looking_folder import labels_of, purpose_of
from mezzotint.checkpoints.plain_text import plain
from mezzotint.checkpoints.regular_file import is_folder
from mezzotint.errors import UnknownModel

Purpose = Literal["detection", "depth", "pose", "background"]

# What is known to work, under Apache 2.0 or MIT.
RECOMMENDED: dict[Purpose, str] = {
    "detection": "PekingU/rtdetr_v2_r18vd",
    "depth": "depth-anything/Depth-Anything-V2-Small-hf",
    "pose": "usyd-community/vitpose-base-simple",
    "background": "onnx-community/BiRefNet_lite-ONNX",
}
PERSON = "person"
# What prepares control images: purposes, and of detectors what they find.
PREPARING: Mapping[str, tuple[tuple[Purpose, str | None], ...]] = {
    "depth": (("depth", None),),
    "pose": (("detection", PERSON), ("pose", None)),
}
_MOST_FOLDERS = 5000  # of a place
_FOLDERS = ("detection", "detectors", "depth", "pose")  # in which they may be kept among others


def looking_networks(places: Places, purpose: Purpose, label: str | None = None) -> dict[str, Path]:
    """The folders of networks for a purpose by name; of detectors: those that find what has this label."""
    found: dict[str, Path] = {}
    for name, folder in _folders(places):
        if purpose_of(folder) == purpose and (label is None or label in labels_of(folder)):
            found.setdefault(name, folder)
    return found


def network_for(places: Places, purpose: Purpose, label: str | None = None) -> Path:
    """The folder of the first network for a purpose; raises UnknownModel with the command that gets one."""
    found = looking_networks(places, purpose, label)
    if not found:
        which = f" that finds '{plain(label)}'" if label is not None else ""
        raise UnknownModel(
            f"no network for {purpose}{which} is among the models; `mezzotint models get {RECOMMENDED[purpose]}` "
            "downloads one"
        )
    return next(iter(found.values()))


def _folders(places: Places) -> Iterator[tuple[str, Path]]:
    """Names and folders below the user's places, or the places themselves, and snapshots of the hub's cache."""
    for place in (*(() if places.models is None else (places.models,)), *places.named):
        yield place.name, place
        folders = (place, *part_folders(place, _FOLDERS))
        yield from ((path.name, path) for folder in folders for path in _inside(folder))
    for path in _inside(places.huggingface) if places.huggingface is not None else ():
        snapshot = snapshot_of(path) if path.name.startswith(PREFIX) else None
        if snapshot is not None:
            yield path.name.rpartition("--")[2], snapshot


def _inside(place: Path) -> list[Path]:
    try:
        with os.scandir(place) as entries:
            some = [Path(entry.path) for entry, _ in zip(entries, range(_MOST_FOLDERS), strict=False)]
    except OSError:
        return []
    return sorted(path for path in some if not path.name.startswith(".") and is_folder(path))
