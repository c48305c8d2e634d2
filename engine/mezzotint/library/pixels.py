"""Decoded images as raw pixel rows in private files, so that the reader parses no image formats."""

import contextlib
import os
import secrets
import shutil
import threading
from collections.abc import Callable
from pathlib import Path

from mezzotint.errors import UsageError
from mezzotint.library.decoding import decode_image
from mezzotint.library_protocol import Layout, Pixels, PixelsRequest
from mezzotint.paths import cache_folder, make_private
from mezzotint.protocol import IsCancelled
from mezzotint.trouble import storage_error


def _is_running(process: int) -> bool:
    import psutil

    return bool(psutil.pid_exists(process))


class PixelFiles:
    """Per-process folder in the cache; leftover folders of ended processes are removed when it is created."""

    def __init__(self, is_running: Callable[[int], bool] = _is_running) -> None:
        self._is_running = is_running
        self._lock = threading.Lock()
        self._folder: Path | None = None

    def write(self, request: PixelsRequest, cancelled: IsCancelled = lambda: False) -> Pixels:
        """Decode an image into a new file, which the caller removes. Raises UsageError if max_side is below 1."""
        if request.max_side is not None and request.max_side < 1:
            raise UsageError(f"max_side is {request.max_side}; it must be at least 1")
        image, (width, height) = decode_image(Path(request.path), request.max_side, cancelled)
        layout: Layout = "rgba" if image.mode == "RGBA" else "rgb"
        path = self._own_folder() / f"{secrets.token_hex(8)}.{layout}"
        _write(path, image.tobytes())
        return Pixels(
            path=str(path),
            layout=layout,
            width=image.width,
            height=image.height,
            bytes_per_line=image.width * len(layout),
            image_width=width,
            image_height=height,
        )

    def remove_leftovers(self) -> None:
        """Remove the folders of processes that have ended."""
        with contextlib.suppress(OSError):
            for folder in _root().iterdir():
                if not (folder.name.isdecimal() and self._is_running(int(folder.name))):
                    shutil.rmtree(folder, ignore_errors=True)

    def close(self) -> None:
        """Remove this process's folder."""
        with self._lock:
            if self._folder is not None:
                shutil.rmtree(self._folder, ignore_errors=True)
                self._folder = None

    def _own_folder(self) -> Path:
        with self._lock:
            if self._folder is None or not self._folder.is_dir():
                self.remove_leftovers()
                self._folder = _root() / str(os.getpid())
                _make_private(_root())
                _make_private(self._folder)
            return self._folder


def _root() -> Path:
    return cache_folder() / "pixels"


def _make_private(folder: Path) -> None:
    try:
        make_private(folder)
    except OSError as error:
        raise storage_error("create the folder", folder, error) from error


def _write(path: Path, pixels: bytes) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
    try:
        with os.fdopen(os.open(path, flags, 0o600), "wb") as file:
            file.write(pixels)
    except OSError as error:
        path.unlink(missing_ok=True)
        raise storage_error("write", path, error) from error
