"""A bounded scan of a folder for possible models."""

import os
from collections.abc import Collection
from pathlib import Path

from mezzotint.catalog.place import Candidate, Found, Place, is_searched
from mezzotint.checkpoints.folder import INDEX_FILE
from mezzotint.checkpoints.foreign_kind import is_pickle_name
from mezzotint.checkpoints.looking_folder import purpose_of
from mezzotint.checkpoints.plain_text import plain
from mezzotint.checkpoints.regular_file import is_file, is_folder, reason

MAX_DEPTH = 5
MAX_ENTRIES = 20_000


def scan(place: Place, without: Collection[str] = ()) -> Found:
    """All diffusers folders and model files in the place, sorted; follows links, visits each folder once.

    Folders whose lower-case names are in `without` hold no models.
    """
    if is_file(place.path):
        return Found(candidates=(_candidate(place, place.path),))
    candidates: list[Candidate] = []
    notices: list[str] = []
    seen: set[str] = set()
    left = MAX_ENTRIES
    pending = [(place.path, 0)]
    while pending and left > 0:
        folder, depth = pending.pop()
        if folder.name.lower() in without:
            continue
        real = os.path.realpath(folder)
        if real in seen:
            continue
        seen.add(real)
        if is_file(folder / INDEX_FILE):
            candidates.append(_candidate(place, folder))
            continue
        if purpose_of(folder):
            continue  # it makes no images
        try:
            files, folders = _list(folder, left)
        except OSError as error:
            notices.append(f"{plain(folder, 300)} cannot be read: {reason(error)}")
            continue
        left -= len(files) + len(folders)
        candidates.extend(_candidate(place, path) for path in files if _is_model_file(path))
        if depth < MAX_DEPTH:
            pending.extend((path, depth + 1) for path in reversed(folders))
    if left <= 0:
        notices.append(f"{plain(place.path, 300)} has {MAX_ENTRIES} entries or more; the rest was not scanned")
    return Found(candidates=tuple(sorted(candidates, key=lambda found: found.path)), notices=tuple(notices))


def file_name(path: Path) -> str:
    """A model file's name without suffix; pickles keep it, to avoid a clash with a .safetensors sibling."""
    return path.stem if path.suffix.lower() == ".safetensors" else path.name


def _candidate(place: Place, path: Path) -> Candidate:
    folder = is_folder(path)
    name = path.name if folder else file_name(path)
    root = place.path.parent if path == place.path else place.path
    return Candidate(
        path=path,
        layout="folder" if folder else "file",
        source=place.source,
        name=plain(name),
        long_name=plain("/".join((root.name, *path.parent.relative_to(root).parts, name)), 300),
    )


def _list(folder: Path, limit: int) -> tuple[list[Path], list[Path]]:
    """The files and the folders in a folder, sorted, without hidden ones and trainings."""
    with os.scandir(folder) as entries:
        visible = (entry for entry in entries if not entry.name.startswith("."))
        some = [(Path(entry.path), _is_folder(entry)) for entry, _ in zip(visible, range(limit), strict=False)]
    files = sorted(path for path, is_dir in some if not is_dir)
    return files, sorted(path for path, is_dir in some if is_dir and is_searched(path.name))


def _is_folder(entry: os.DirEntry[str]) -> bool:
    return is_folder(Path(entry.path)) if entry.is_symlink() else entry.is_dir()


def _is_model_file(path: Path) -> bool:
    return (path.suffix.lower() in (".safetensors", ".gguf") or is_pickle_name(path)) and is_file(path)
