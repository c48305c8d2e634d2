"""Cache of traced footprints, in files named by graph hash."""

import contextlib
import json
from pathlib import Path

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
            path = self._path(key)
            if path.stat().st_size > _LARGEST:
                return None
            told = json.loads(path.read_text("utf-8"))
            return component_from_json(told) if isinstance(told, dict) else None
        except (OSError, ValueError, RecursionError):
            return None

    def put(self, key: str, footprint: ComponentFootprint) -> None:
        """Store a footprint atomically, safe against concurrent writers."""
        with contextlib.suppress(OSError, StorageError):
            self._folder.mkdir(parents=True, exist_ok=True)
            data = json.dumps(component_to_json(footprint)).encode()
            atomic_write(self._path(key), data, overwrite=True)

    def _path(self, key: str) -> Path:
        return self._folder / f"{key}.json"
