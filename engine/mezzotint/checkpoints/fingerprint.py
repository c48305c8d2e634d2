"""SHA-256 of a file, cached until the file's size or modification time changes."""

import contextlib
import hashlib
import json
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

from mezzotint.checkpoints.header import Header
from mezzotint.checkpoints.plain_text import plain
from mezzotint.checkpoints.regular_file import is_file, is_settled, open_regular, reason
from mezzotint.checkpoints.strict_json import read_json_object
from mezzotint.errors import Cancelled, ModelRefused, StorageError
from mezzotint.protocol import FileUsed

MAX_CACHE = 8 * 2**20
MAX_REMEMBERED = 10_000
_CHUNK = 2**20

_Entry = tuple[int, int, str]  # bytes, mtime_ns, sha256


def fingerprint(path: Path, cache: Path | None, *, cancelled: Callable[[], bool] = lambda: False) -> FileUsed:
    """Return the file's SHA-256, from the `cache` file if size and modification time match."""
    with open_regular(path) as file:
        before = os.fstat(file.fileno())
        key = str(path.resolve())
        remembered = _read_cache(cache) if cache else {}
        entry = remembered.get(key)
        if entry and entry[:2] == (before.st_size, before.st_mtime_ns):
            return FileUsed(path=str(path), sha256=entry[2], bytes=entry[0])
        digest = _sha256(path, file, cancelled)
        after = os.fstat(file.fileno())
    if (after.st_size, after.st_mtime_ns) != (before.st_size, before.st_mtime_ns):
        raise StorageError(f"{plain(path, 300)} changed while it was read; try again")
    if cache and is_settled(after):
        remembered.pop(key, None)
        remembered[key] = (after.st_size, after.st_mtime_ns, digest)
        _write_cache(cache, remembered)
    return FileUsed(path=str(path), sha256=digest, bytes=after.st_size)


def tensors_sha256(header: Header, *, cancelled: Callable[[], bool] = lambda: False) -> str:
    """SHA-256 of a safetensors file without its header, by which A1111 and Civitai identify LoRAs."""
    with open_regular(header.path) as file:
        file.seek(min(spec.start for spec in header.tensors.values()))
        return _sha256(header.path, file, cancelled)


def _sha256(path: Path, file: BinaryIO, cancelled: Callable[[], bool]) -> str:
    digest = hashlib.sha256()
    try:
        while chunk := file.read(_CHUNK):
            if cancelled():
                raise Cancelled(f"Stopped while {plain(path.name)} was read")
            digest.update(chunk)
    except OSError as error:
        raise StorageError(f"{plain(path, 300)} cannot be read: {reason(error)}") from None
    return digest.hexdigest()


def _read_cache(cache: Path) -> dict[str, _Entry]:
    """The cached entries; empty if the cache is missing or damaged, since it can be rebuilt."""
    if not is_file(cache):
        return {}
    try:
        files = read_json_object(cache, MAX_CACHE).get("files")
    except (ModelRefused, StorageError):
        return {}
    if not isinstance(files, dict):
        return {}
    entries = ((key, _entry(value)) for key, value in files.items())
    return {key: entry for key, entry in entries if entry is not None}


def _entry(value: object) -> _Entry | None:
    match value:
        case [int(size), int(mtime), str(digest)] if len(digest) == 64:
            return size, mtime, digest
    return None


def _write_cache(cache: Path, entries: dict[str, _Entry]) -> None:
    kept = dict(list(entries.items())[-MAX_REMEMBERED:])
    data = json.dumps({"version": 1, "files": kept}).encode("utf-8")
    # The cache only saves time, so a full or read-only disk is not an error.
    with contextlib.suppress(OSError):
        cache.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=f".{cache.name}.", dir=cache.parent)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            Path(name).replace(cache)
        finally:
            Path(name).unlink(missing_ok=True)
