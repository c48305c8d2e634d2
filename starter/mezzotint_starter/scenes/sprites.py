"""The pictures of the subjects, in memory: the solid set of bitmaps, and the flat set of vector drawings."""

import io
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from PIL import Image

from mezzotint.errors import StorageError
from mezzotint_starter.scenes.archive import read_existing, read_members
from mezzotint_starter.scenes.sources import FLAT, SOLID, archive_of
from mezzotint_starter.scenes.subjects import Subject

LARGEST_SIDE = 512
_FLAT_SIDE = 192
_ICONS, _CHARACTERS = "package/icons.json", "package/chars.json"
_BITMAPS = "package/assets/"


class Sprites(Protocol):
    """Pictures by subject and style."""

    def picture(self, subject: Subject, style: str) -> Image.Image:
        """Return the subject's picture, RGBA, without transparent margins."""
        ...


class PublishedSprites:
    """Pictures of the published sets."""

    def __init__(self, pictures: Mapping[tuple[str, str], Image.Image]) -> None:
        self._pictures = pictures

    def picture(self, subject: Subject, style: str) -> Image.Image:
        """Return the subject's picture, RGBA, without transparent margins."""
        return self._pictures[subject.code, "flat" if style == "flat" else "solid"]


def read_sprites(subjects: Sequence[Subject], folder: Path) -> PublishedSprites:
    """Return the pictures of the subjects, fetched first if they are missing. Raises StorageError."""
    solid, flat = _read_bitmaps(subjects, folder), _read_drawings(subjects, folder)
    pictures = {(code, "solid"): trimmed(image) for code, image in solid.items()}
    pictures |= {(code, "flat"): trimmed(image) for code, image in flat.items()}
    return PublishedSprites(pictures)


def trimmed(image: Image.Image) -> Image.Image:
    """Return an RGBA image without its transparent margins."""
    return image.crop(image.getchannel("A").point([0] * 24 + [255] * 232).getbbox() or (0, 0, 1, 1))


def _read_bitmaps(subjects: Sequence[Subject], folder: Path) -> dict[str, Image.Image]:
    codes = {_plain_code(subject.code): subject.code for subject in subjects}
    names = {f"{_BITMAPS}{plain}{variant}.webp": code for plain, code in codes.items() for variant in ("", "-fe0f")}
    files = read_existing(archive_of(SOLID, folder), names)
    pictures = {names[name]: _decoded(data, name) for name, data in sorted(files.items())}
    if missing := [subject.name for subject in subjects if subject.code not in pictures]:
        raise StorageError(f"{SOLID.package} {SOLID.version} has no picture of {missing[0]}")
    return pictures


def _decoded(data: bytes, name: str) -> Image.Image:
    with Image.open(io.BytesIO(data), formats=("WEBP",)) as image:
        if max(image.size) > LARGEST_SIDE:
            raise StorageError(f"{name} of {SOLID.package} is {image.width}x{image.height}: too large for a picture")
        return image.convert("RGBA")


def _read_drawings(subjects: Sequence[Subject], folder: Path) -> dict[str, Image.Image]:
    files = read_members(archive_of(FLAT, folder), (_ICONS, _CHARACTERS))
    icons, characters = json.loads(files[_ICONS]), json.loads(files[_CHARACTERS])
    return {subject.code: _rasterised(icons, characters[_plain_code(subject.code)]) for subject in subjects}


def _plain_code(code: str) -> str:
    return code.lower().removesuffix("-fe0f")


def _rasterised(icons: Mapping[str, Any], name: str) -> Image.Image:
    # Imported here, since only training needs Qt, and only for these drawings.
    from PySide6.QtCore import QByteArray
    from PySide6.QtGui import QImage, QPainter
    from PySide6.QtSvg import QSvgRenderer

    width, height = icons.get("width", 32), icons.get("height", 32)
    body = icons["icons"][name]["body"]
    svg = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}">{body}</svg>'
    renderer, image = (
        QSvgRenderer(QByteArray(svg.encode())),
        QImage(_FLAT_SIDE, _FLAT_SIDE, QImage.Format.Format_RGBA8888),
    )
    image.fill(0)
    painter = QPainter(image)
    renderer.render(painter)
    painter.end()
    return Image.frombytes("RGBA", (_FLAT_SIDE, _FLAT_SIDE), bytes(image.constBits()))
