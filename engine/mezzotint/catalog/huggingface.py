"""Models in the Hugging Face hub's cache, used in place.

Layout: `models--org--name/refs/main` holds a revision, `models--org--name/snapshots/<revision>/` its files, as links
into `models--org--name/blobs/`.
"""

import os
import re
from pathlib import Path

from mezzotint.catalog.place import Candidate, Found
from mezzotint.checkpoints.folder import INDEX_FILE
from mezzotint.checkpoints.plain_text import plain
from mezzotint.checkpoints.regular_file import is_file, is_folder, read_limited, reason
from mezzotint.errors import ModelRefused, StorageError

MAX_REPOSITORIES = 5000
PREFIX = "models--"
_REVISION = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")


def scan_cache(cache: Path) -> Found:
    """The current snapshot of each repository that may hold a model."""
    try:
        names = _repositories(cache)
    except OSError as error:
        return Found(notices=(f"{plain(cache, 300)} cannot be read: {reason(error)}",))
    found = [candidate for name in names[:MAX_REPOSITORIES] for candidate in _repository(cache / name)]
    return Found(candidates=tuple(found))


def is_cache(folder: Path) -> bool:
    """Whether the folder holds hub repositories."""
    try:
        return bool(_repositories(folder))
    except OSError:
        return False


def snapshot_of(repository: Path) -> Path | None:
    """The snapshot that `main` refers to, or else the newest."""
    snapshots = repository / "snapshots"
    main = repository / "refs" / "main"
    if is_file(main):
        try:
            revision = read_limited(main, 256).decode("ascii", "replace").strip()
        except (ModelRefused, StorageError):
            revision = ""
        if _REVISION.fullmatch(revision) and is_folder(snapshots / revision):
            return snapshots / revision
    try:
        dated = [(path.stat().st_mtime_ns, path.name, path) for path in snapshots.iterdir() if is_folder(path)]
    except OSError:
        return None
    return max(dated)[2] if dated else None


def _repositories(cache: Path) -> list[str]:
    with os.scandir(cache) as entries:
        return sorted(entry.name for entry in entries if entry.name.startswith(PREFIX))


def _repository(repository: Path) -> list[Candidate]:
    snapshot = snapshot_of(repository)
    if snapshot is None:
        return []
    name = plain("/".join(repository.name.removeprefix(PREFIX).split("--")), 200)
    found = []
    if is_file(snapshot / INDEX_FILE):
        found.append(_candidate(snapshot, name))
    elif is_file(snapshot / "config.json"):
        return []  # a single network, usually a language model, not an image model
    files = sorted(path for path in snapshot.glob("*.safetensors") if is_file(path))
    return [*found, *(_candidate(path, f"{name}/{plain(path.stem)}") for path in files)]


def _candidate(path: Path, name: str) -> Candidate:
    return Candidate(
        path=path, layout="folder" if is_folder(path) else "file", source="huggingface", name=name, long_name=name
    )
