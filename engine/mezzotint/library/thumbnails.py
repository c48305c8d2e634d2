"""Thumbnails, cached as JPEG files with least-recently-used eviction."""

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
from mezzotint.images.reading import open_image
from mezzotint.library.decoding import decode_image, over_white
from mezzotint.library.gallery.look import look_of
from mezzotint.library_protocol import Thumbnail, ThumbnailRequest
from mezzotint.paths import cache_folder
from mezzotint.protocol import IsCancelled
from mezzotint.trouble import storage_error

LARGEST_SIDE = 1024
MOST_BYTES = 1 << 30
_KEPT_SHARE = 0.8  # of the limit, after eviction
_TIDY_EVERY = 1000  # thumbnails between cache size checks
_MOST_FAILURES = 10_000
_USED_AGAIN = 24 * 3600  # seconds after which the last-use date is updated
_ABANDONED = 3600  # seconds after which a temporary file is stale; writing takes about a second
_QUALITY = 85
_LOOK_SIDE = 256  # of the thumbnails that looks are read from
_LOOK = b"look 1:"  # before the look in a thumbnail's comment
_VERSION = 1  # changing it regenerates all thumbnails


class Thumbnails:
    """Thread-safe thumbnail cache."""

    def __init__(self, most_bytes: int = MOST_BYTES, tidy_every: int = _TIDY_EVERY) -> None:
        self._most_bytes = most_bytes
        self._tidy_every = tidy_every
        self._lock = threading.Lock()
        self._tidying = threading.Lock()
        self._made = 0
        self._failures: OrderedDict[str, str] = OrderedDict()

    def get(self, request: ThumbnailRequest, cancelled: IsCancelled = lambda: False) -> Thumbnail:
        """Return the thumbnail, from the cache if the file is unchanged. Raises UsageError, ImageRefused."""
        if not 1 <= request.side <= LARGEST_SIDE:
            raise UsageError(f"a thumbnail of {request.side} pixels was requested; it must be from 1 to {LARGEST_SIDE}")
        key = _key(Path(request.path), request.side)
        with self._lock:
            if key in self._failures:
                raise ImageRefused(self._failures[key])
        path = _folder() / key[:2] / f"{key}.jpg"
        return _kept(path) or self._make(request, key, path, cancelled)

    def look(self, path: str) -> bytes:
        """Return how an image looks, from its thumbnail. Raises as `get`."""
        kept = self.get(ThumbnailRequest(path=path, side=_LOOK_SIDE))
        with open_image(Path(kept.path)) as image:
            comment = image.info.get("comment")
            if isinstance(comment, bytes) and comment.startswith(_LOOK):
                return comment.removeprefix(_LOOK)
            return look_of(over_white(image))  # made by an earlier version

    def _make(self, request: ThumbnailRequest, key: str, path: Path, cancelled: IsCancelled) -> Thumbnail:
        try:
            image, _ = decode_image(Path(request.path), request.side, cancelled)
        except ImageRefused as error:
            if not _may_pass(error.__cause__):
                self._remember_failure(key, str(error))
            raise
        file = io.BytesIO()
        image = over_white(image)
        image.save(file, "JPEG", quality=_QUALITY, comment=_LOOK + look_of(image))
        _write(path, file.getvalue())
        self._count()
        return Thumbnail(path=str(path), width=image.width, height=image.height)

    def _remember_failure(self, key: str, message: str) -> None:
        with self._lock:
            self._failures[key] = message
            while len(self._failures) > _MOST_FAILURES:
                self._failures.popitem(last=False)

    def _count(self) -> None:
        """Check the cache size with the first thumbnail and every `tidy_every`; it grows little in between."""
        with self._lock:
            due = self._made % self._tidy_every == 0
            self._made += 1
        if due and self._tidying.acquire(blocking=False):
            try:
                tidy(self._most_bytes)
            finally:
                self._tidying.release()


def _may_pass(cause: BaseException | None) -> bool:
    """Whether the failure is temporary: caused by the machine, not the image."""
    return isinstance(cause, MemoryError) or (isinstance(cause, OSError) and cause.errno is not None)


def tidy(most_bytes: int) -> None:
    """Evict the least recently used thumbnails above `most_bytes`, and stale temporary files of crashed processes."""
    files = sorted(_files())
    total = sum(size for _, size, _ in files)
    wanted = most_bytes * _KEPT_SHARE if total > most_bytes else total
    abandoned = time.time() - _ABANDONED
    for used, size, path in files:
        half = path.name.startswith(TEMPORARY_PREFIX)  # another thread may still be writing it
        if used < abandoned if half else total > wanted:
            with contextlib.suppress(OSError):
                path.unlink()
                total -= size


def _files() -> Iterator[tuple[float, int, Path]]:
    """Yield last use, size in bytes and path of each file."""
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
        cause = error if isinstance(error, OSError) else OSError(str(error))
        raise storage_error("read", path, cause) from error
    text = f"{_VERSION}\0{path.absolute()}\0{status.st_mtime_ns}\0{status.st_size}\0{side}"
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _kept(path: Path) -> Thumbnail | None:
    """Return the cached thumbnail if it is intact; its file date records the last use."""
    try:
        with Image.open(path, formats=("JPEG",)) as image:
            width, height = image.size
        if time.time() - path.stat().st_mtime > _USED_AGAIN:
            os.utime(path)
    except (OSError, SyntaxError, ValueError):
        return None
    return Thumbnail(path=str(path), width=width, height=height)


def _write(path: Path, data: bytes) -> None:
    """Write atomically, without fsync: a thumbnail lost to a power failure is regenerated."""
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
