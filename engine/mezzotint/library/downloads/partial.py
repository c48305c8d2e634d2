"""The hidden folder beside a model that is being fetched: what is there whole, what in part, by content.

Files in it bear keys that stand for their content, never names from the net. A part has a name of its own for every
try, so that a forgotten process and a new one never write to the same file; a new try takes up the longest part.
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
    """A name for a content, of what is known of it: its sum above all."""
    return hashlib.sha256("\0".join(map(str, facts)).encode("utf-8", "surrogatepass")).hexdigest()[:40]


class Partial:
    """What is there of a model."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @classmethod
    def beside(cls, target: Path) -> "Partial":
        """That of the model that is to stand at `target`."""
        return cls(target.with_name(f"{TEMPORARY_PREFIX}{target.name}{TEMPORARY_SUFFIX}"))

    @property
    def assembled(self) -> Path:
        """Where the files get their names."""
        return self.folder / "files"

    def whole(self, key: str) -> Path:
        """A file that is all there and right."""
        return self.folder / f"{key}{_WHOLE}"

    def bytes_there(self, key: str, size: int) -> int:
        """How much need not be fetched any more."""
        if _size(self.whole(key)) == size:
            return size
        longest = max((_size(part) for part in self._parts(key)), default=0)
        return longest if longest <= size else 0

    def take_up(self, key: str) -> Path:
        """A part for this try alone: the longest that is there, under a new name; others are removed."""
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
        """The part is whole and right."""
        retry_sharing(os.replace, part, self.whole(key))

    @contextmanager
    def held(self) -> Iterator[None]:
        """For one process at a time; Busy when another fetches this model."""
        import filelock

        self.make()
        lock = filelock.FileLock(self.folder / _LOCK, timeout=0)
        try:
            lock.acquire()
        except filelock.Timeout:
            raise Busy(f"{shown(self.folder.parent)}: this model is being fetched already; wait for it") from None
        except (OSError, NotImplementedError):
            pass  # a disk that knows no locks: parts have names of their own for each process
        try:
            yield
        finally:
            lock.release()

    def make(self) -> None:
        """The folder, if it is not there."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise storage_error("make", self.folder, error) from None

    def remove(self) -> None:
        """All of it, as far as it can be removed: what is left is resumed, or does no harm."""
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
