"""Split a job into shards: which one this machine makes, and the name of its manifest.

Only one process writes a shard's manifest, so nothing depends on locks of a network disk.
"""

import re
from collections.abc import Mapping
from pathlib import Path

from mezzotint.batch.tasks.tasks import Shard
from mezzotint.errors import UsageError
from mezzotint.trouble import storage_error

STEM = "mezzotint-manifest"
MERGED = f"{STEM}.merged.jsonl"
MOST_SHARDS = 100_000

_SHARD = re.compile(r"(\d{1,6})/(\d{1,6})")
_NAME = re.compile(rf"{STEM}(?:-(\d+)-of-(\d+))?\.jsonl")


def shard_of(words: str | None, environ: Mapping[str, str]) -> Shard | None:
    """Parse `2/7`, the third of seven counted from 0. Without `words`, use the index of a Slurm job array, if any."""
    if words is not None:
        return parsed(words)
    return _slurm(environ)


def parsed(words: str) -> Shard:
    """Parse `2/7`. Raises UsageError if `words` is not a valid shard."""
    match = _SHARD.fullmatch(words.strip())
    index, count = (int(match[1]), int(match[2])) if match else (0, 0)
    if not (0 <= index < count <= MOST_SHARDS):
        raise UsageError(
            f"'{words[:40]}' is not a shard: give its index, counted from 0, and the number of shards, such as 0/4"
        )
    return Shard(index=index, count=count)


def _slurm(environ: Mapping[str, str]) -> Shard | None:
    asked = environ.get("SLURM_ARRAY_TASK_ID")
    if asked is None:
        return None
    names = ("SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_COUNT", "SLURM_ARRAY_TASK_MIN", "SLURM_ARRAY_TASK_STEP")
    try:
        number, count, least, step = (
            int(environ.get(name, default)) for name, default in zip(names, ("", "", "0", "1"), strict=True)
        )
        index, rest = divmod(number - least, step)
    except (ValueError, ZeroDivisionError):
        count, index, rest = 0, 0, 0
    if rest or not 0 <= index < count <= MOST_SHARDS:
        told = ", ".join(f"{name}={environ.get(name, '')[:20]}" for name in names)
        raise UsageError(
            f"the numbers of the Slurm job array do not give a shard ({told}): give --shard, such as --shard 0/4"
        )
    return Shard(index=index, count=count)


def manifest_name(shard: Shard | None) -> str:
    """Return the file name of a shard's manifest, or of the manifest of an unsharded run."""
    return f"{STEM}.jsonl" if shard is None else f"{STEM}-{shard.index}-of-{shard.count}.jsonl"


def shard_of_name(name: str) -> Shard | None:
    """Return the shard whose manifest has that name; None for an unsharded run."""
    match = _NAME.fullmatch(name)
    return Shard(index=int(match[1]), count=int(match[2])) if match and match[1] else None


def manifests_in(folder: Path) -> list[Path]:
    """Return the manifests of an output folder; a merged one only if it is the only one. Raises StorageError."""
    try:
        names = [path.name for path in folder.iterdir()] if folder.is_dir() else []
    except OSError as error:
        raise storage_error("read", folder, error) from error
    found = sorted(name for name in names if _NAME.fullmatch(name))
    return [folder / name for name in found or [name for name in names if name == MERGED]]
