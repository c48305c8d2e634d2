"""Sizes of images from their headers, without decoding a pixel."""

import os
from pathlib import Path

from mezzotint.errors import ImageRefused
from mezzotint.images.reading import open_image, upright_size
from mezzotint.trouble import shown, storage_error

_ENDS = {"PNG": b"IEND", "JPEG": b"\xff\xd9", "MPO": b"\xff\xd9"}  # marks that end the pixels
_CHUNK = 1 << 16


def read_size(path: Path) -> tuple[int, int]:
    """Width and height after the EXIF orientation. Raises ImageRefused for a damaged, cut off or huge image.

    Of damage behind the header only a missing end is noticed: the rest shows when the image is decoded.
    """
    with open_image(path) as image:
        size, end = upright_size(image), _ENDS.get(image.format or "")
    if end is not None and not _contains_end(path, end):
        raise ImageRefused(f"{shown(path)} is cut off: its end is missing; use another copy")
    return size


def _contains_end(path: Path, end: bytes) -> bool:
    """Whether a file contains these bytes: usually in its last chunk, but phones append films to pictures."""
    try:
        with open(path, "rb") as file:
            file.seek(-min(_CHUNK, os.fstat(file.fileno()).st_size), os.SEEK_END)
            if end in file.read():
                return True
            file.seek(0)
            before = b""
            while chunk := file.read(_CHUNK):
                if end in before + chunk:
                    return True
                before = chunk[1 - len(end) :]
    except OSError as error:
        raise storage_error("read", path, error) from error
    return False
