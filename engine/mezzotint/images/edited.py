"""Edited copies of image files: what is read of the image, and what its copy says about itself."""

import io
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from PIL import ExifTags, Image
from PIL.PngImagePlugin import PngInfo

from mezzotint.errors import ProtocolError
from mezzotint.images.decoder_errors import DECODER_ERRORS
from mezzotint.images.embedded import embedded_texts
from mezzotint.images.encoding import RECORD_KEYWORD, check_side, encode_image
from mezzotint.images.metadata import own_record
from mezzotint.images.own_record import MAX_RECORD
from mezzotint.images.reading import open_image, refused_if_broken, to_rgb, upright
from mezzotint.images.record import ImageRecord, record_from_json
from mezzotint.images.writing import pixels_sha256, write_bytes
from mezzotint.images.xmp import enhanced_packet

_MAX_TEXT = 4 << 20  # characters of all text chunks that are kept
_MAX_BINARY = 4 << 20  # bytes of EXIF or a colour profile
_NO_LONGER_TRUE = (ExifTags.Base.Orientation, ExifTags.Base.ImageWidth, ExifTags.Base.ImageLength)
_XMP_KEYWORD = "XML:com.adobe.xmp"


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """An image to be edited, and what its file says."""

    path: Path
    image: Image.Image  # upright RGB
    record: ImageRecord | None  # ours
    texts: dict[str, str]  # text chunks of other programs
    exif: bytes
    profile: bytes


def read_source(path: Path) -> Source:
    """Read an image with what its file says; raises ImageRefused. Broken metadata is left out."""
    with open_image(path) as image, refused_if_broken(path):
        image.load()
        written = own_record(embedded_texts(image))
        profile = image.info.get("icc_profile")
        return Source(
            path=path,
            image=to_rgb(upright(image)),
            record=None if written is None else _record(written),
            texts=_texts(image),
            exif=_exif(image),
            profile=profile
            if isinstance(profile, bytes) and len(profile) <= _MAX_BINARY and image.mode == "RGB"
            else b"",
        )


def write_edited(
    image: Image.Image, path: Path, source: Source, noted: Callable[[ImageRecord], ImageRecord], *, overwrite: bool
) -> Path:
    """Write the edited copy, `noted` in our record; the name gets a suffix -1, -2, ... if it is taken.

    Raises StorageError.
    """

    def encoded(name: str) -> bytes:
        if source.record is None:
            return _encode(image, path.suffix.lower(), source)
        shown = replace(
            source.record.image, path=name, width=image.width, height=image.height, sha256=pixels_sha256(image)
        )
        return encode_image(image, path.suffix, noted(replace(source.record, image=shown)))

    return write_bytes(path, encoded, overwrite=overwrite)


def _encode(image: Image.Image, suffix: str, source: Source) -> bytes:
    check_side(image, suffix)
    file, packet = io.BytesIO(), enhanced_packet()
    both = {"exif": source.exif, "icc_profile": source.profile or None}
    if suffix == ".png":
        texts = PngInfo()
        for key, value in source.texts.items():
            texts.add_itxt(key, value)
        texts.add_itxt(_XMP_KEYWORD, packet.decode())
        image.save(file, "PNG", pnginfo=texts, **both)
    elif suffix == ".webp":
        image.save(file, "WEBP", quality=95, xmp=packet, **both)
    else:
        image.save(file, "JPEG", quality=95, subsampling=0, xmp=packet, **both)
    return file.getvalue()


def _record(written: str) -> ImageRecord | None:
    try:
        return record_from_json(written) if len(written) <= MAX_RECORD else None
    except (ProtocolError, RecursionError):
        return None


def _texts(image: Image.Image) -> dict[str, str]:
    kept: dict[str, str] = {}
    for key, value in embedded_texts(image).chunks.items():
        room = _MAX_TEXT - sum(map(len, kept.values()))
        if key not in (RECORD_KEYWORD, _XMP_KEYWORD) and 0 < len(key) < 80 and key.isascii() and len(value) <= room:
            kept[key] = value
    return kept


def _exif(image: Image.Image) -> bytes:
    """EXIF without what no longer holds; empty if there is none, or it is damaged."""
    raw = image.info.get("exif")
    if not isinstance(raw, bytes) or len(raw) > _MAX_BINARY:
        return b""
    try:
        exif = Image.Exif()
        exif.load(raw)
        for tag in _NO_LONGER_TRUE:
            exif.pop(tag, None)
        return exif.tobytes()
    except DECODER_ERRORS:
        return b""
