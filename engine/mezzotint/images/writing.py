"""Write images atomically, never over existing files unless asked to."""

import hashlib
import io
import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from PIL import Image

from mezzotint.atomic import atomic_write
from mezzotint.errors import StorageError
from mezzotint.images.encoding import encode_image
from mezzotint.images.record import ImageRecord
from mezzotint.images.used_files import remember_files
from mezzotint.request_protocol import MetadataKept
from mezzotint.trouble import shown, storage_error

_MOST_TWINS = 100_000


def write_image(
    image: Image.Image, path: Path, record: ImageRecord, *, overwrite: bool, kept: MetadataKept = "all"
) -> Path:
    """Write the image and its record, and return its path, with a suffix -1, -2, ... if the name is taken.

    The record's path is set to that file name. JPEG holds little text: a record that is too long is reduced to the
    request, and what still does not fit is omitted, because the image matters more.
    """
    remember_files(record)
    plain = image if image.mode in ("RGB", "RGBA") else image.convert("RGB")

    def encoded(name: str) -> bytes:
        return encode_image(plain, path.suffix, replace(record, image=replace(record.image, path=name)), kept)

    return write_bytes(path, encoded, overwrite=overwrite)


def write_png(image: Image.Image, path: Path, *, overwrite: bool) -> Path:
    """Write an image alone as PNG; the name gets a suffix -1, -2, ... if it is taken."""
    file = io.BytesIO()
    image.save(file, "PNG")
    return write_bytes(path, lambda _: file.getvalue(), overwrite=overwrite)


def write_preview(jpeg: bytes, folder: Path, *, image: int, stage: int, step: int) -> Path:
    """Write the preview of one step (image and stage from 0, step from 1); earlier previews are kept."""
    path = folder.expanduser() / f"preview-{image + 1:02d}-{stage + 1}-{step:03d}.jpg"
    return write_bytes(path, lambda _: jpeg, overwrite=False)


def pixels_sha256(image: Image.Image) -> str:
    """SHA-256 of the pixels: RGB, 8 bits, row by row."""
    return hashlib.sha256(image.convert("RGB").tobytes()).hexdigest()


def require_folder(folder: str | None) -> None:
    """Raise StorageError if a folder that was there when the run began is gone, such as with an unplugged disk."""
    if folder is not None and not Path(folder).is_dir():
        raise StorageError(f"the folder {shown(folder)} is gone: connect its disk again, or start anew")


def write_bytes(path: Path, encoded: Callable[[str], bytes], *, overwrite: bool) -> Path:
    """Write what `encoded` returns for a file name, with a suffix -1, -2, ... if it is taken; returns the path."""
    _make_folder(path.parent)
    for target in _candidates(path, overwrite=overwrite):
        try:
            atomic_write(target, encoded(target.name), overwrite=overwrite)
        except FileExistsError:
            continue  # another process took the name in the meantime
        return target
    raise StorageError(f"no free name is left next to {shown(path)}: choose another name or folder")


def _candidates(path: Path, *, overwrite: bool) -> Iterator[Path]:
    if overwrite or not os.path.lexists(path):
        yield path
    for number in range(1, 1 if overwrite else _MOST_TWINS):
        candidate = path.with_name(f"{path.stem}-{number}{path.suffix}")
        if not os.path.lexists(candidate):
            yield candidate


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise storage_error("create the folder", folder, error) from error
