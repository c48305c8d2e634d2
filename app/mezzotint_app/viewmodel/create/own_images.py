"""Images of our own that a request names: masks and pasted images, kept in the folder of what is under way."""

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

LIGHT = 128  # of 255: what is as light as this is made anew
KEPT_SECONDS = 7 * 24 * 3600  # for what no entry of the queue names any more
_ARE_LIGHT = bytes(int(value >= LIGHT) for value in range(256))


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnImage:
    """A file that holds what its name says, and stays."""

    path: str
    sha256: str


def masks_folder() -> Path:
    """Where masks lie."""
    return paths.state_folder() / "masks"


def pasted_folder() -> Path:
    """Where images from the clipboard lie."""
    return paths.state_folder() / "pasted"


def keep(image: QImage, folder: Path) -> OwnImage:
    """Write a PNG that is named after what it holds, off the window's thread. Raises a StorageError."""
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
    """Whether a grey mask lets nothing be made anew."""
    rows = memoryview(mask.constBits())
    width, stride = mask.width(), mask.bytesPerLine()
    return not any(
        b"\1" in bytes(rows[row * stride : row * stride + width]).translate(_ARE_LIGHT) for row in range(mask.height())
    )


def forget(folder: Path, needed: Collection[str], *, now: Callable[[], float] = time.time) -> None:
    """Delete our own images that nothing needs and that are a week old."""
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
