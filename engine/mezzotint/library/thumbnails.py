"""Small images of images, kept in the cache as JPEGs of our own until they are the least used of too many."""

import contextlib
import hashlib
import io
import os
import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Iterator
from pathlib import Path

from PIL import Image

from mezzotint.atomic import TEMPORARY_PREFIX, TEMPORARY_SUFFIX, retry_sharing
from mezzotint.errors import ImageRefused, UsageError
from mezzotint.library.decoding import decode_image, over_white
from mezzotint.library_protocol import Thumbnail, ThumbnailRequest
from mezzotint.paths import cache_folder
from mezzotint.protocol import IsCancelled
from mezzotint.trouble import storage_error

LARGEST_SIDE = 1024
MOST_BYTES = 1 << 30
_KEPT_SHARE = 0.8  # of that, after tidying
_TIDY_EVERY = 1000  # thumbnails
_MOST_FAILURES = 10_000
_USED_AGAIN = 24 * 3600  # seconds after which a use is noted anew
_ABANDONED = 3600  # seconds; a file is written in one
_QUALITY = 85
_VERSION = 1  # another one makes all of them anew


class Thumbnails:
    """Makes and finds them; safe from several threads."""

    def __init__(self, most_bytes: int = MOST_BYTES, tidy_every: int = _TIDY_EVERY) -> None:
        self._most_bytes = most_bytes
        self._tidy_every = tidy_every
        self._lock = threading.Lock()
        self._tidying = threading.Lock()
        self._made = 0
        self._failures: OrderedDict[str, str] = OrderedDict()

    def get(self, request: ThumbnailRequest, cancelled: IsCancelled = lambda: False) -> Thumbnail:
        """The small image, from the cache where the file has not changed since."""
        if not 1 <= request.side <= LARGEST_SIDE:
            raise UsageError(f"a thumbnail of {request.side} pixels is asked for; 1 to {LARGEST_SIDE} can be had")
        key = _key(Path(request.path), request.side)
        with self._lock:
            if key in self._failures:
                raise ImageRefused(self._failures[key])
        path = _folder() / key[:2] / f"{key}.jpg"
        return _kept(path) or self._make(request, key, path, cancelled)

    def _make(self, request: ThumbnailRequest, key: str, path: Path, cancelled: IsCancelled) -> Thumbnail:
        try:
            image, _ = decode_image(Path(request.path), request.side, cancelled)
        except ImageRefused as error:
            if not _may_pass(error.__cause__):
                self._remember_failure(key, str(error))
            raise
        file = io.BytesIO()
        image = over_white(image)
        image.save(file, "JPEG", quality=_QUALITY)
        _write(path, file.getvalue())
        self._count()
        return Thumbnail(path=str(path), width=image.width, height=image.height)

    def _remember_failure(self, key: str, message: str) -> None:
        with self._lock:
            self._failures[key] = message
            while len(self._failures) > _MOST_FAILURES:
                self._failures.popitem(last=False)

    def _count(self) -> None:
        """Look at the size of the whole with the first one and every so often: in between it grows by a little."""
        with self._lock:
            due = self._made % self._tidy_every == 0
            self._made += 1
        if due and self._tidying.acquire(blocking=False):
            try:
                tidy(self._most_bytes)
            finally:
                self._tidying.release()


def _may_pass(cause: BaseException | None) -> bool:
    """Whether the fault lies with the machine, not the image."""
    return isinstance(cause, MemoryError) or (isinstance(cause, OSError) and cause.errno is not None)


def tidy(most_bytes: int) -> None:
    """Remove what was not used for longest where there is too much, and what a process that died has half written."""
    files = sorted(_files())
    total = sum(size for _, size, _ in files)
    wanted = most_bytes * _KEPT_SHARE if total > most_bytes else total
    abandoned = time.time() - _ABANDONED
    for used, size, path in files:
        half = path.name.startswith(TEMPORARY_PREFIX)  # another thread may be writing it just now
        if used < abandoned if half else total > wanted:
            with contextlib.suppress(OSError):
                path.unlink()
                total -= size


def _files() -> Iterator[tuple[float, int, Path]]:
    """When it was last used, its bytes, its path."""
    with contextlib.suppress(OSError):
        for folder in _folder().iterdir():
            with contextlib.suppress(OSError), os.scandir(folder) as entries:
                for entry in entries:
                    status = entry.stat(follow_symlinks=False)
                    yield status.st_mtime, status.st_size, Path(entry.path)


def _folder() -> Path:
    return cache_folder() / "thumbnails"


def _key(path: Path, side: int) -> str:
    try:
        status = path.stat()
    except (OSError, ValueError) as error:
        told = error if isinstance(error, OSError) else OSError(str(error))
        raise storage_error("read", path, told) from error
    text = f"{_VERSION}\0{path.absolute()}\0{status.st_mtime_ns}\0{status.st_size}\0{side}"
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _kept(path: Path) -> Thumbnail | None:
    """The one that is there, and whole; the date of its file says when it was last used."""
    try:
        with Image.open(path, formats=("JPEG",)) as image:
            width, height = image.size
        if time.time() - path.stat().st_mtime > _USED_AGAIN:
            os.utime(path)
    except (OSError, SyntaxError, ValueError):
        return None
    return Thumbnail(path=str(path), width=width, height=height)


def _write(path: Path, data: bytes) -> None:
    """Whole or absent. It is not synced: a thumbnail that a power failure empties is made again."""
    temporary = path.parent / f"{TEMPORARY_PREFIX}{secrets.token_hex(8)}{TEMPORARY_SUFFIX}"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary.write_bytes(data)
        retry_sharing(os.replace, temporary, path)
    except OSError as error:
        raise storage_error("write", path, error) from error
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
