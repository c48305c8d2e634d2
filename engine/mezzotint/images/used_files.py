"""Where the files are that images of this machine were made with: images say names alone, and are made again by these.

Lines of JSON in the state folder, which other users of the machine cannot read; a later line replaces an earlier one.
"""

import contextlib
import json
import os
from dataclasses import fields, is_dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from mezzotint.atomic import atomic_write
from mezzotint.errors import StorageError
from mezzotint.images.published import is_absolute, last_part
from mezzotint.paths import make_private, state_folder

_FILE = "used_files.jsonl"
_MOST_LINES = 10_000
_MOST_BYTES = 8 << 20
_KEPT = 8  # places of one name


def remember_files(record: object) -> None:
    """Remember every absolute path in a record; what cannot be written is not remembered."""
    path = state_folder() / _FILE
    with contextlib.suppress(OSError, StorageError):
        known = _lines(path)
        new = [line for line in dict.fromkeys((last_part(each), each) for each in _paths(record)) if line not in known]
        if not new:
            return
        make_private(path.parent)
        if len(known) + len(new) > _MOST_LINES:
            atomic_write(path, _written([*list(known)[len(known) // 2 :], *new]), overwrite=True)
            return
        with open(path, "ab") as file:
            file.write(_written(new))


def places_of(name: str) -> list[Path]:
    """The places where a file or folder of that name was when an image was made with it, the last one first."""
    try:
        found = [Path(place) for known, place in _lines(state_folder() / _FILE) if known == name]
    except OSError:
        return []
    return [path for path in reversed(found[-_KEPT:]) if path.exists()]


def _lines(path: Path) -> dict[tuple[str, str], None]:
    try:
        stamp = path.stat()
    except FileNotFoundError:
        return {}
    return _read(path, stamp.st_mtime_ns, stamp.st_size)


@lru_cache(maxsize=4)
def _read(path: Path, _changed: int, size: int) -> dict[tuple[str, str], None]:
    with open(path, "rb") as file:
        file.seek(max(0, size - _MOST_BYTES), os.SEEK_SET)
        lines = file.read(_MOST_BYTES).splitlines()
    found: dict[tuple[str, str], None] = {}
    for line in lines:
        with contextlib.suppress(ValueError):
            pair = json.loads(line)
            if isinstance(pair, list) and len(pair) == 2 and all(isinstance(each, str) for each in pair):
                found[pair[0], pair[1]] = None
    return found


def _written(lines: list[tuple[str, str]]) -> bytes:
    return b"".join(json.dumps(line).encode("ascii") + b"\n" for line in lines)


def _paths(value: Any) -> list[str]:  # noqa: ANN401  any value of the boundary
    if isinstance(value, str):
        return [value] if is_absolute(value) and len(value) < 4096 else []
    if isinstance(value, tuple):
        return [path for each in value for path in _paths(each)]
    if isinstance(value, dict):
        return [path for each in value.values() for path in _paths(each)]
    if not is_dataclass(value) or isinstance(value, type):
        return []
    return [path for field in fields(value) for path in _paths(getattr(value, field.name))]
