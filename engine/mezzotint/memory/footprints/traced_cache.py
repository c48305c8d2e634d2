"""Cache of traced footprints and byte counts, in files named by graph hash."""

import contextlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from mezzotint.atomic import atomic_write
from mezzotint.errors import StorageError
from mezzotint.memory.footprints.footprint import ComponentFootprint
from mezzotint.memory.footprints.footprint_json import component_from_json, component_to_json

_LARGEST = 2**20  # bytes


class TracedCache:
    """A folder of cached footprints. Unreadable entries are treated as missing, and failed writes are ignored."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def get(self, key: str) -> ComponentFootprint | None:
        """Return a cached footprint, or None if it is missing or damaged."""
        try:
            told = self._read(key)
            return component_from_json(told) if isinstance(told, dict) else None
        except ValueError:
            return None

    def put(self, key: str, footprint: ComponentFootprint) -> None:
        """Store a footprint atomically, safe against concurrent writers."""
        self._write(key, component_to_json(footprint))

    def bytes(self, key: str, trace: Callable[[], int]) -> int:
        """Return a cached number of bytes; it is traced if it is missing or damaged."""
        found = self._read(key)
        if type(found) is not int or found < 0:
            found = trace()
            self._write(key, found)
        return found

    def _read(self, key: str) -> Any:  # noqa: ANN401
        try:
            path = self._path(key)
            return None if path.stat().st_size > _LARGEST else json.loads(path.read_text("utf-8"))
        except (OSError, ValueError, RecursionError):
            return None

    def _write(self, key: str, told: object) -> None:
        with contextlib.suppress(OSError, StorageError):
            self._folder.mkdir(parents=True, exist_ok=True)
            atomic_write(self._path(key), json.dumps(told).encode(), overwrite=True)

    def _path(self, key: str) -> Path:
        return self._folder / f"{key}.json"
