"""Footprints of networks that were traced once, in files named by the hash of their graph."""

import contextlib
import json
import os
import secrets
from pathlib import Path

from mezzotint.memory.footprint import ComponentFootprint
from mezzotint.memory.footprint_json import component_from_json, component_to_json

_LARGEST = 2**20  # bytes


class TracedCache:
    """A folder of them. What cannot be read is as if it were not there; what cannot be written is traced again."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def get(self, key: str) -> ComponentFootprint | None:
        """What was kept, if it is whole."""
        try:
            path = self._path(key)
            if path.stat().st_size > _LARGEST:
                return None
            told = json.loads(path.read_text("utf-8"))
            return component_from_json(told) if isinstance(told, dict) else None
        except (OSError, ValueError, RecursionError):
            return None

    def put(self, key: str, footprint: ComponentFootprint) -> None:
        """Keep it: whole or not at all, whoever else does the same."""
        temporary = self._folder / f".{key}-{secrets.token_hex(4)}.part"
        with contextlib.suppress(OSError):
            self._folder.mkdir(parents=True, exist_ok=True)
            try:
                temporary.write_text(json.dumps(component_to_json(footprint)), "utf-8")
                os.replace(temporary, self._path(key))  # noqa: PTH105  one call for what happens
            finally:
                temporary.unlink(missing_ok=True)

    def _path(self, key: str) -> Path:
        return self._folder / f"{key}.json"
