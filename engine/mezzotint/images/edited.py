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
from mezzotint.images.png import PROFILE, left_out
from mezzotint.images.reading import colours_of, open_image, refused_if_broken, to_rgb
from mezzotint.images.record import ImageRecord, record_from_json
from mezzotint.images.transparency import flattening_notice
from mezzotint.images.writing import pixels_sha256, write_bytes
from mezzotint.images.xmp import enhanced_packet
from mezzotint.parsed import Notify, Parsed, enumerated
from mezzotint.request_protocol import Output
from mezzotint.trouble import shown

_MAX_TEXT = 4 << 20  # characters of all text chunks that are kept
_MAX_BINARY = 4 << 20  # bytes of EXIF
_NO_LONGER_TRUE = (ExifTags.Base.Orientation, ExifTags.Base.ImageWidth, ExifTags.Base.ImageLength)
_XMP_KEYWORD = "XML:com.adobe.xmp"
_OURS = (RECORD_KEYWORD, _XMP_KEYWORD)  # written anew


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """An image to be edited, and what its file says."""

    path: Path
    image: Image.Image  # upright, in sRGB; RGBA if any pixel is transparent
    record: ImageRecord | None  # ours
    texts: dict[str, str]  # text chunks of other programs
    exif: bytes


def read_source(path: Path) -> Parsed[Source]:
    """Read an image with what its file says; raises ImageRefused. Broken metadata is not used."""
    with open_image(path) as image, refused_if_broken(path):
        image.load()
        written = own_record(embedded_texts(image))
        record = None if written is None else _record(written)
        texts, exif = _texts(image), _exif(image)
        unused = [] if written is None or record is not None else ["its record (damaged)"]
        unused += [f"its text {key}" for key in embedded_texts(image).chunks if key not in (*_OURS, *texts)]
        unused += [f"its text {name} ({why})" for name, why in left_out(image).items() if name != PROFILE]
        unused += ["its EXIF (damaged, or too large)"] if image.info.get("exif") and not exif else []
        pixels = colours_of(image, shown(path))

        def source(pixels: Image.Image) -> Source:
            return Source(path=path, image=pixels, record=record, texts=texts, exif=exif)

        return pixels.merge(Parsed(None, source="", unused=tuple(unused)), lambda found, _: source(found))


def write_edited(
    image: Image.Image,
    path: Path,
    source: Source,
    noted: Callable[[ImageRecord], ImageRecord],
    notify: Notify,
    output: Output,
) -> Path:
    """Write the edited copy, `noted` in our record; the name gets a suffix -1, -2, ... if it is taken.

    Of another program's texts all are kept, or none. What the format of the copy cannot hold is told to `notify`.
    Raises StorageError.
    """
    suffix = path.suffix.lower()
    flattening = flattening_notice(image, path)
    if flattening is not None:
        notify(flattening)
    if source.texts and source.record is None and suffix != ".png":
        notify(
            f"{shown(path.name)}: only PNG holds texts of other programs: not kept: {enumerated(tuple(source.texts))}"
        )

    def encoded(name: str) -> bytes:
        if source.record is None:
            kept = source if output.metadata != "none" else replace(source, texts={}, exif=b"")
            return _encode(image, suffix, kept, is_marked=output.metadata != "none")
        finished = replace(
            source.record.image, path=name, width=image.width, height=image.height, sha256=pixels_sha256(image)
        )
        return encode_image(image, path.suffix, noted(replace(source.record, image=finished)), output.metadata)

    return write_bytes(path, encoded, overwrite=output.overwrite)


def _encode(image: Image.Image, suffix: str, source: Source, *, is_marked: bool) -> bytes:
    check_side(image, suffix)
    file, packet = io.BytesIO(), enhanced_packet() if is_marked else b""
    if suffix == ".png":
        texts = PngInfo()
        for key, value in source.texts.items():
            texts.add_itxt(key, value)
        if packet:
            texts.add_itxt(_XMP_KEYWORD, packet.decode())
        image.save(file, "PNG", pnginfo=texts, exif=source.exif)
    elif suffix == ".webp":
        image.save(file, "WEBP", quality=95, xmp=packet, exif=source.exif)
    else:
        to_rgb(image).save(file, "JPEG", quality=95, subsampling=0, xmp=packet, exif=source.exif)
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
        if key not in _OURS and 0 < len(key) < 80 and key.isascii() and len(value) <= room:
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
