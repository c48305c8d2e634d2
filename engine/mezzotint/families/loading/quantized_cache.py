"""Disk cache of networks that were quantized on load, so that the next load only reads them.

The cache only saves time: failures to write are reported and otherwise ignored, damaged entries are deleted and
rebuilt, and the least recently used ones are evicted for space.
"""

import contextlib
import secrets
import shutil
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from mezzotint.checkpoints.plain_text import plain
from mezzotint.checkpoints.regular_file import is_file, reason
from mezzotint.errors import ModelRefused, StorageError
from mezzotint.families.loading.quantized_entry import SUFFIX, QuantizedEntry
from mezzotint.families.loading.stored_layers import WholeLayer
from mezzotint.quantization.formats import Tensors

LEAST_BYTES = 64 * 2**20  # smaller networks are quantized as fast as they are read
MOST_BYTES = 20 * 10**9
SHARE_OF_FREE = 0.1
_ABANDONED_SECONDS = 24 * 3600.0  # age of partial files left by a killed process
_TEMPORARY = ".new-"


def free_bytes(folder: Path) -> int:
    """Free bytes on the folder's disk."""
    return shutil.disk_usage(folder).free


def take_entry(entry: QuantizedEntry | None, place: Path, cancelled: Callable[[], bool]) -> Iterator[WholeLayer]:
    """Yield the layers of an entry, if it exists; raises ModelRefused or StorageError if it is damaged."""
    if entry is None or not is_file(place):
        return
    yield from entry.read(place, cancelled)
    with contextlib.suppress(OSError):
        place.touch()  # records the last use


def discard_entry(place: Path) -> None:
    """Remove a damaged entry."""
    with contextlib.suppress(OSError):
        place.unlink(missing_ok=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class QuantizedCache:
    """A folder of entries, one file each."""

    folder: Path
    on_trouble: Callable[[str], None]
    least_bytes: int = LEAST_BYTES
    most_bytes: int = MOST_BYTES  # and at most a tenth of what would be free without the cache
    free: Callable[[Path], int] = field(default=free_bytes)

    def place_of(self, entry: QuantizedEntry) -> Path | None:
        """Path of the entry, whether it exists or not; None if it is not worth caching."""
        if entry.bytes < self.least_bytes:
            return None
        try:
            return self.folder / f"{entry.key()}{SUFFIX}"
        except (OSError, StorageError, ModelRefused):
            return None  # the model's files are gone, which reading them reports

    def keep(
        self, entry: QuantizedEntry, place: Path, tensors_of: Callable[[str], Tensors], cancelled: Callable[[], bool]
    ) -> None:
        """Write an entry atomically, and report failures. Raises Cancelled, and nothing else."""
        temporary = self.folder / f"{_TEMPORARY}{secrets.token_hex(8)}{SUFFIX}"  # others may write the same entry
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            if entry.is_settled() and self._make_room(entry.bytes):
                entry.write(temporary, tensors_of, cancelled)
                if self.place_of(entry) == place:  # otherwise the model changed while it was read
                    temporary.replace(place)
        except (StorageError, ModelRefused) as error:
            self._tell(entry, str(error))
        except OSError as error:
            self._tell(entry, f"{plain(place, 300)} cannot be written: {reason(error)}")
        finally:
            discard_entry(temporary)

    def _tell(self, entry: QuantizedEntry, why: str) -> None:
        self.on_trouble(f"the quantized {entry.source.name} is not kept, and will be made again next time: {why}")

    def _make_room(self, needed: int) -> bool:
        """Evict the least recently used entries; False if `needed` exceeds the cache's limit."""
        files = [(path.stat(), path) for path in self.folder.iterdir() if path.is_file()]
        for stat, path in files:
            if path.name.startswith(".") and time.time() - stat.st_mtime > _ABANDONED_SECONDS:
                discard_entry(path)
        kept = sorted((stat.st_mtime_ns, stat.st_size, path) for stat, path in files if not path.name.startswith("."))
        total = sum(size for _, size, _ in kept)
        limit = min(self.most_bytes, int(SHARE_OF_FREE * (self.free(self.folder) + total)))
        if needed > limit:
            return False
        for _, size, path in kept:
            if total + needed <= limit:
                break
            discard_entry(path)
            total -= size
        return True
