"""Read untrusted images safely, as plain upright sRGB."""

import os
import stat
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, BinaryIO

from PIL import ExifTags, Image, ImageOps, UnidentifiedImageError, features

from mezzotint.errors import ImageRefused
from mezzotint.images.colours import eight_bits, in_srgb, interpolable, is_deep
from mezzotint.images.decoder_errors import DECODER_ERRORS
from mezzotint.images.png import PROFILE, SIGNATURE, BoundedPng, left_out
from mezzotint.parsed import Parsed
from mezzotint.trouble import meaning, shown

MAX_PIXELS = 100_000_000
MAX_FILE_BYTES = 1 << 30  # WebP and AVIF are read into memory whole before their size is known
FORMATS = ("PNG", "JPEG", "WEBP", "TIFF", "BMP", "GIF", *(["AVIF"] if features.check("avif") else []))

_ON_THEIR_SIDE = (5, 6, 7, 8)  # EXIF orientations that swap width and height
_TOO_LARGE = (Image.DecompressionBombError, Image.DecompressionBombWarning)
_TRY_INSTEAD = "use a PNG, JPEG, WebP, AVIF, TIFF, BMP or GIF image"
_KNOWN_STARTS = (
    (b"<!doctype html", "a web page"),
    (b"<html", "a web page"),
    (b"<svg", "an SVG drawing"),
    (b"<?xml", "XML"),
    (b"version https://git-lfs", "a Git-LFS pointer (fetch the real file with git lfs pull)"),
    (b"%pdf", "a PDF"),
    (b"%!ps", "PostScript"),
    (b"8bps", "a Photoshop document"),
    (b"pk\x03\x04", "a ZIP archive"),
    (b"\x00\x00\x00\x0cjxl", "a JPEG XL image"),
    (b"\xff\x0a", "a JPEG XL image"),
)


def read_image(path: Path) -> Image.Image:
    """Read an image as `read_input` does, for callers to whom it makes no difference how its pixels came about."""
    return read_input(path).take(lambda _: None)


def read_input(path: Path) -> Parsed[Image.Image]:
    """Read an image as 8-bit RGB, in sRGB: first frame, EXIF orientation applied once, transparency over white.

    What is not used is transparency, and a colour profile that cannot be applied; values are then taken as sRGB.
    """
    found = read_colours(path)
    unused = (*found.unused, *found.map(_transparency).take(lambda _: None))
    return Parsed(to_rgb(found.take(lambda _: None)), source=found.source, unused=unused)


def read_colours(path: Path) -> Parsed[Image.Image]:
    """Read an image as `read_input` does, but as RGBA if any pixel is transparent."""
    with open_image(path) as image, refused_if_broken(path):
        image.load()
        return colours_of(image, shown(path))


def colours_of(image: Image.Image, source: str) -> Parsed[Image.Image]:
    """An opened image as `read_colours` reads it; `source` names it."""
    profile = image.info.get("icc_profile")
    found, why = in_srgb(interpolable(upright(image)), profile)
    why = why or left_out(image).get(PROFILE)
    is_opaque = found.mode == "RGBA" and found.getchannel("A").getextrema() == (255, 255)
    unused = () if why is None else (f"its colour profile ({why})",)
    return Parsed(found.convert("RGB") if is_opaque else found, source=source, unused=unused)


def _transparency(image: Image.Image) -> tuple[str, ...]:
    return ("its transparency (white is put behind it)",) if image.mode == "RGBA" else ()


@contextmanager
def open_image(path: Path) -> Iterator[Image.Image]:
    """Open an image's header and check its size, decoding no pixel; any error becomes an ImageRefused."""
    with _open_regular(path) as file:
        with refused_if_broken(path, file):
            image = open_header(file)
        with image:
            _check_pixels(path, image)
            yield image


@contextmanager
def refused_if_broken(path: Path, file: BinaryIO | None = None) -> Iterator[None]:
    """Context manager: turn any decoder error into an ImageRefused that names what the file is."""
    try:
        yield
    except _TOO_LARGE as error:
        raise ImageRefused(f"{shown(path)} is too large to read safely: scale it down first") from error
    except UnidentifiedImageError as error:
        raise ImageRefused(f"{shown(path)} {_what_it_is(file)}: {_TRY_INSTEAD}") from error
    except DECODER_ERRORS as error:
        words = " ".join(str(error).split())[:200] or type(error).__name__
        raise ImageRefused(f"{shown(path)} is damaged or incomplete ({words}): use another copy") from error


def to_rgb(image: Image.Image) -> Image.Image:
    """Convert any mode to 8-bit RGB: transparency over white, deep greys scaled to 8 bits."""
    if image.mode == "RGB" and not image.has_transparency_data:
        return image
    if is_deep(image):
        return eight_bits(image).convert("RGB")
    if image.has_transparency_data:
        rgba = image.convert("RGBA")
        return Image.alpha_composite(Image.new("RGBA", rgba.size, "white"), rgba).convert("RGB")
    return image.convert("RGB")


def _open_regular(path: Path) -> BinaryIO:
    """Open a regular file; never blocks on a pipe or reads a device."""
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            raise ImageRefused(f"{shown(path)} is {_kind(status.st_mode)}, not an image: {_TRY_INSTEAD}")
        if status.st_size == 0:
            raise ImageRefused(f"{shown(path)} is empty (0 bytes), perhaps a broken download: use another copy")
        if status.st_size > MAX_FILE_BYTES:
            size = status.st_size / (1 << 30)
            raise ImageRefused(f"{shown(path)} has {size:.1f} GB; at most 1 GB is allowed: scale it down")
        return open(path, "rb", opener=_without_waiting)
    except OSError as error:
        raise ImageRefused(f"cannot read {shown(path)}: {meaning(error)}") from error
    except ValueError as error:  # NUL in the name
        raise ImageRefused(
            f"cannot read {shown(path)}: the name contains a character that no file name can have"
        ) from error


def _without_waiting(path: str, flags: int) -> int:
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def _kind(mode: int) -> str:
    if stat.S_ISDIR(mode):
        return "a folder"
    if stat.S_ISFIFO(mode):
        return "a pipe"
    return "a socket" if stat.S_ISSOCK(mode) else "a device"


def open_header(file: IO[bytes]) -> Image.Image:
    """Open an untrusted image of an allowed format; raises DECODER_ERRORS."""
    if file.read(len(SIGNATURE)) == SIGNATURE:
        file.seek(0)
        return BoundedPng(file)
    file.seek(0)
    with warnings.catch_warnings():
        # Pillow warns at its own limit, below ours; the real check is `_check_pixels`, before anything is decoded.
        warnings.simplefilter("ignore")
        return Image.open(file, formats=FORMATS)


def _check_pixels(path: Path, image: Image.Image) -> None:
    width, height = image.size
    if width * height > MAX_PIXELS:
        size = f"{width}x{height} is {width * height / 1e6:.0f} million pixels"
        raise ImageRefused(
            f"{shown(path)} is too large: {size}, at most {MAX_PIXELS // 10**6} million are allowed: scale it down"
        )


def _what_it_is(file: BinaryIO | None) -> str:
    if file is None:
        return "is not an image in a supported format"
    file.seek(0)
    start = file.read(512)
    lowered = start.lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    for mark, name in _KNOWN_STARTS:
        if lowered.startswith(mark):
            return f"contains {name}, not an image"
    if not start.strip(b"\0"):
        return "contains only zeros, perhaps a broken download"
    if all(byte >= 32 or byte in b"\t\r\n\f" for byte in start):
        return "contains text, not an image"
    return "is not an image in a supported format"


def upright_size(image: Image.Image) -> tuple[int, int]:
    """Width and height after the EXIF orientation; decodes no pixel."""
    with suppress(*DECODER_ERRORS):
        exif, raw = Image.Exif(), image.info.get("exif")
        if isinstance(raw, bytes):  # not for TIFF, which Pillow transposes itself
            exif.load(raw)  # asking Pillow for a PNG's EXIF would decode the whole image
        if exif.get(ExifTags.Base.Orientation) in _ON_THEIR_SIDE:
            return image.height, image.width
    return image.size


def upright(image: Image.Image) -> Image.Image:
    """Apply the EXIF orientation."""
    try:
        return ImageOps.exif_transpose(image)
    except DECODER_ERRORS:
        return image  # only the orientation tag is broken; the pixels are good
