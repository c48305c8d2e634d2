"""Masks and pasted images used by requests, saved in the state folder."""

import contextlib
import hashlib
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QBuffer, QByteArray, QIODevice
from PySide6.QtGui import QImage

from mezzotint import paths
from mezzotint.atomic import atomic_write
from mezzotint.errors import StorageError
from mezzotint.trouble import storage_error

LIGHT = 128  # of 255; pixels at least this light are inpainted
KEPT_SECONDS = 7 * 24 * 3600  # for files that no queue entry uses any more
_ARE_LIGHT = bytes(int(value >= LIGHT) for value in range(256))


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnImage:
    """A file named after the SHA-256 of its content, which never changes."""

    path: str
    sha256: str


def masks_folder() -> Path:
    """Return the folder of masks."""
    return paths.state_folder() / "masks"


def pasted_folder() -> Path:
    """Return the folder of pasted images."""
    return paths.state_folder() / "pasted"


def keep(image: QImage, folder: Path) -> OwnImage:
    """Write a PNG named after its hash; call this in a worker thread. Raises StorageError."""
    data = _png(image)
    sha256 = hashlib.sha256(data).hexdigest()
    path = folder / f"{sha256}.png"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if path.is_file() and hashlib.sha256(path.read_bytes()).hexdigest() == sha256:
            path.touch()
        else:
            atomic_write(path, data, overwrite=True)
    except OSError as error:
        raise storage_error("write", path, error) from error
    return OwnImage(path=str(path), sha256=sha256)


def is_blank(mask: QImage) -> bool:
    """Whether a grayscale mask inpaints nothing."""
    rows = memoryview(mask.constBits())
    width, stride = mask.width(), mask.bytesPerLine()
    return not any(
        b"\1" in bytes(rows[row * stride : row * stride + width]).translate(_ARE_LIGHT) for row in range(mask.height())
    )


def forget(folder: Path, needed: Collection[str], *, now: Callable[[], float] = time.time) -> None:
    """Delete unneeded files that are at least a week old."""
    names = {Path(path).name for path in needed}
    with contextlib.suppress(OSError):
        for path in list(folder.glob("*.png")):
            if path.name not in names and now() - path.stat().st_mtime > KEPT_SECONDS:
                path.unlink(missing_ok=True)


def _png(image: QImage) -> bytes:
    data = QByteArray()
    buffer = QBuffer(data)
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    if not image.save(buffer, "PNG"):  # type: ignore[call-overload]
        size = f"{image.width()}x{image.height()}"
        raise StorageError(f"an image of {size} pixels could not be saved as PNG: try a smaller one")
    return bytes(data.data())
