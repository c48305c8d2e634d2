"""The hidden folder beside a model that is being downloaded: its complete and partial files, keyed by content.

Files are named by content keys, never by names from the network. Each attempt writes to a part with a unique name, so
that a leftover process and a new one never write to the same file; a new attempt continues the longest part.
"""

import hashlib
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from mezzotint.atomic import TEMPORARY_PREFIX, TEMPORARY_SUFFIX, retry_sharing
from mezzotint.errors import Busy
from mezzotint.trouble import shown, storage_error

_WHOLE = ".whole"
_LOCK = "lock"


def key_of(*facts: object) -> str:
    """Return the key of a content, hashed from known facts such as its checksum."""
    return hashlib.sha256("\0".join(map(str, facts)).encode("utf-8", "surrogatepass")).hexdigest()[:40]


class Partial:
    """The partially downloaded files of a model."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @classmethod
    def beside(cls, target: Path) -> "Partial":
        """Return the folder of the model that will be at `target`."""
        return cls(target.with_name(f"{TEMPORARY_PREFIX}{target.name}{TEMPORARY_SUFFIX}"))

    @property
    def assembled(self) -> Path:
        """The subfolder in which the files get their final names."""
        return self.folder / "files"

    def whole(self, key: str) -> Path:
        """Return the path of a complete, verified file."""
        return self.folder / f"{key}{_WHOLE}"

    def bytes_there(self, key: str, size: int) -> int:
        """Return how many bytes need not be downloaded again."""
        if _size(self.whole(key)) == size:
            return size
        longest = max((_size(part) for part in self._parts(key)), default=0)
        return longest if longest <= size else 0

    def resume_part(self, key: str) -> Path:
        """Return a part for this attempt: the longest existing one under a new name; other parts are removed."""
        own = self.folder / f"{key}.{secrets.token_hex(6)}{TEMPORARY_SUFFIX}"
        parts = sorted(self._parts(key), key=_size)
        if parts:
            retry_sharing(os.replace, parts.pop(), own)
        for other in parts:
            with suppress(OSError):
                other.unlink()
        own.touch()
        return own

    def finish(self, part: Path, key: str) -> None:
        """Mark the part as complete and verified."""
        retry_sharing(os.replace, part, self.whole(key))

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the lock of this folder. Raises Busy if another process downloads this model."""
        import filelock

        self.make()
        lock = filelock.FileLock(self.folder / _LOCK, timeout=0)
        try:
            lock.acquire()
        except filelock.Timeout:
            raise Busy(f"{shown(self.folder.parent)}: this model is being downloaded already; wait for it") from None
        except (OSError, NotImplementedError):
            pass  # no lock support: the unique names of parts still keep processes apart
        try:
            yield
        finally:
            lock.release()

    def make(self) -> None:
        """Create the folder if it does not exist."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise storage_error("create", self.folder, error) from None

    def remove(self) -> None:
        """Remove the folder, ignoring errors: leftovers are resumed or harmless."""
        import shutil

        shutil.rmtree(self.folder, ignore_errors=True)

    def _parts(self, key: str) -> list[Path]:
        try:
            return list(self.folder.glob(f"{key}.*{TEMPORARY_SUFFIX}"))
        except OSError:
            return []


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return -1
