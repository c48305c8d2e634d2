"""Loads images for the window: decoded by the library service, read here as raw rows in a worker thread."""

import contextlib
import os
import stat
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from PySide6.QtCore import QObject
from PySide6.QtGui import QImage

from mezzotint.errors import ImageRefused, MezzotintError
from mezzotint.library_protocol import Pixels, PixelsRequest
from mezzotint.trouble import shown, storage_error
from mezzotint_app.background import Executor
from mezzotint_app.processes.service import Failure, Service
from mezzotint_app.strips import converted

LARGEST_SIDE = 1 << 16  # pixels
LARGEST_AREA = 100_000_000  # pixels, the library service's limit
_LAYOUTS = {"rgb": (3, QImage.Format.Format_RGB888), "rgba": (4, QImage.Format.Format_RGBA8888)}


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedImage:
    """An image, possibly scaled down, and the original's size."""

    image: QImage
    width: int  # of the original
    height: int


class PixelLoader(QObject):
    """Loads images; in each slot the newest request wins, and the callbacks of the one it replaces are not called."""

    def __init__(self, librarian: Service, pool: Executor, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._librarian, self._pool = librarian, pool
        self._wanted: dict[str, int] = {}  # slot -> handle
        self._count = 0

    def load(
        self,
        path: str | os.PathLike[str],
        max_side: int | None,
        then: Callable[[QImage], None],
        failed: Callable[[Failure], None] | None = None,
        *,
        slot: str = "",
    ) -> int:
        """Load an image with sides of at most `max_side` pixels; returns a handle for `drop`."""
        return self.load_image(path, max_side, lambda loaded: then(loaded.image), failed, slot=slot)

    def load_image(
        self,
        path: str | os.PathLike[str],
        max_side: int | None,
        then: Callable[[LoadedImage], None],
        failed: Callable[[Failure], None] | None = None,
        *,
        slot: str = "",
    ) -> int:
        """Like `load`, but `then` also receives the size of the original image."""
        self._count += 1
        handle = self._count
        self._wanted[slot] = handle

        def tell(loaded: LoadedImage) -> None:
            if self._take(handle):
                then(loaded)

        def fail(failure: Failure) -> None:
            if self._take(handle) and failed is not None:
                failed(failure)

        def read(pixels: Pixels) -> None:
            if self._is_wanted(handle):
                self._pool.run(lambda: read_pixels(pixels), tell, lambda error: fail(failure_of(error)))
            else:
                self._pool.run(lambda: _delete(Path(pixels.path)), None, lambda _error: None)

        request = PixelsRequest(path=os.fspath(path), max_side=max_side)
        self._librarian.ask("pixels", request, answer=Pixels, then=read, failed=fail)
        return handle

    def drop(self, handle: int) -> None:
        """Discard a request; its callbacks are not called."""
        self._take(handle)

    def drop_all(self) -> None:
        """Discard all pending requests."""
        self._wanted.clear()

    def _is_wanted(self, handle: int) -> bool:
        return handle in self._wanted.values()

    def _take(self, handle: int) -> bool:
        found = [slot for slot, wanted in self._wanted.items() if wanted == handle]
        for slot in found:
            del self._wanted[slot]
        return bool(found)


def failure_of(error: Exception) -> Failure:
    """Convert an exception from the worker thread to a Failure."""
    kind = error.kind if isinstance(error, MezzotintError) else MezzotintError.kind
    return Failure(kind=kind, message=str(error))


def read_pixels(pixels: Pixels) -> LoadedImage:
    """Read the file of rows and delete it, whatever it contains. Raises ImageRefused or StorageError."""
    path = Path(pixels.path)
    try:
        _check(pixels)
        _check_regular(path)
        with open(path, "rb") as file:
            image = _read_rows(file, pixels)
    except OSError as error:
        raise storage_error("read", path, error) from error
    finally:
        _delete(path)
    quick = QImage.Format.Format_ARGB32_Premultiplied if pixels.layout == "rgba" else QImage.Format.Format_RGB32
    return LoadedImage(image=converted(image, quick), width=pixels.image_width, height=pixels.image_height)


def _check(pixels: Pixels) -> None:
    sides = (pixels.width, pixels.height, pixels.image_width, pixels.image_height)
    if not all(0 < side <= LARGEST_SIDE for side in sides) or pixels.width * pixels.height > LARGEST_AREA:
        raise ImageRefused(f"an image of {pixels.width}x{pixels.height} pixels cannot be shown: scale it down first")
    row = pixels.width * _LAYOUTS[pixels.layout][0]
    if not row <= pixels.bytes_per_line <= row + 4096:
        raise ImageRefused(f"rows of {pixels.bytes_per_line} bytes cannot hold {pixels.width} pixels: try again")


def _check_regular(path: Path) -> None:
    """Checked before opening: opening a pipe would block."""
    if not stat.S_ISREG(path.lstat().st_mode):
        raise ImageRefused(f"{shown(path)} should contain pixels but is not a regular file: try again")


def _read_rows(file: BinaryIO, pixels: Pixels) -> QImage:
    found, wanted = os.fstat(file.fileno()), pixels.height * pixels.bytes_per_line
    if found.st_size != wanted:
        raise ImageRefused(f"{shown(pixels.path)} has {found.st_size} bytes instead of {wanted}: try again")
    bytes_per_pixel, layout = _LAYOUTS[pixels.layout]
    image = QImage(pixels.width, pixels.height, layout)
    if image.isNull():
        raise ImageRefused(
            f"not enough memory for an image of {pixels.width}x{pixels.height} pixels: close another image"
        )
    rows, row = memoryview(image.bits()), pixels.width * bytes_per_pixel
    for number in range(pixels.height):
        start = number * image.bytesPerLine()
        file.seek(number * pixels.bytes_per_line)
        if file.readinto(rows[start : start + row]) != row:  # type: ignore[attr-defined]
            raise ImageRefused(f"{shown(pixels.path)} ended while it was read: try again")
    return image


def _delete(path: Path) -> None:
    with contextlib.suppress(OSError):  # the library service empties its folder when it starts
        if stat.S_ISREG(path.lstat().st_mode):  # never delete anything else
            path.unlink(missing_ok=True)
