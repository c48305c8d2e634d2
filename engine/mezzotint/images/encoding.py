"""Encode an image and its record as a PNG, JPEG or WebP file."""

import io
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from PIL import ExifTags, Image
from PIL.PngImagePlugin import PngInfo

from mezzotint.errors import StorageError, UsageError
from mezzotint.images.a1111 import infotext_of
from mezzotint.images.infotext import write_infotext
from mezzotint.images.published import without_folders
from mezzotint.images.reading import to_rgb
from mezzotint.images.record import ImageRecord, record_to_json
from mezzotint.images.xmp import xmp_packet
from mezzotint.request_protocol import MetadataKept

RECORD_KEYWORD = "mezzotint"
INFOTEXT_KEYWORD = "parameters"
UNICODE_COMMENT = b"UNICODE\0"  # followed by UTF-16, big-endian as A1111 writes it

_XMP_KEYWORD = "XML:com.adobe.xmp"
_LARGEST_SIDE = {".jpg": 65_500, ".jpeg": 65_500, ".webp": 16_383}
_JPEG_SEGMENT = 65_000  # bytes of EXIF or of XMP that always fit a JPEG file


@dataclass(frozen=True, slots=True, kw_only=True)
class _Texts:
    """What a file says of how its image was made; None: nothing of that kind."""

    infotext: str | None
    record: ImageRecord | None
    is_composite: bool = False
    is_marked: bool = True  # as made by a computer


def encode_image(image: Image.Image, suffix: str, record: ImageRecord, kept: MetadataKept = "all") -> bytes:
    """The file's bytes in the format of `suffix` (.png, .jpg, .jpeg, .webp); the image is RGB or RGBA.

    No text in it names a folder.
    """
    suffix = suffix.lower()
    encoder = _ENCODERS.get(suffix)
    if encoder is None:
        raise UsageError(
            f"an image cannot be written as {suffix or 'a file without a suffix'}: use .png, .jpg or .webp"
        )
    check_side(image, suffix)
    file = io.BytesIO()
    encoder(image, file, _texts_of(without_folders(record), kept))
    return file.getvalue()


def _texts_of(record: ImageRecord, kept: MetadataKept) -> _Texts:
    return _Texts(
        infotext=None if kept == "none" else write_infotext(infotext_of(record)),
        record=record if kept == "all" else None,
        is_composite=any(one.role == "init" for one in record.request.images),
        is_marked=kept != "none",
    )


def check_side(image: Image.Image, suffix: str) -> None:
    """Raise StorageError if a format does not allow an image of that size."""
    largest = _LARGEST_SIDE.get(suffix)
    if largest is not None and max(image.size) > largest:
        width, height = image.size
        raise StorageError(
            f"{suffix} allows at most {largest} pixels per side, the image is {width}x{height}: use .png"
        )


def _encode_png(image: Image.Image, file: io.BytesIO, said: _Texts) -> None:
    texts = PngInfo()
    if said.infotext is not None:
        texts.add_text(INFOTEXT_KEYWORD, said.infotext)  # tEXt, or iTXt beyond Latin-1
    if said.record is not None:
        texts.add_text(RECORD_KEYWORD, record_to_json(said.record))
    if said.is_marked:
        texts.add_itxt(_XMP_KEYWORD, xmp_packet(composite=said.is_composite).decode())
    image.save(file, "PNG", pnginfo=texts)


def _encode_webp(image: Image.Image, file: io.BytesIO, said: _Texts) -> None:
    image.save(file, "WEBP", quality=95, exif=_exif(said), xmp=next(_packets(said)))


def _encode_jpeg(image: Image.Image, file: io.BytesIO, said: _Texts) -> None:
    exif = _exif(said)
    packet = next(one for one in _packets(said) if len(one) <= _JPEG_SEGMENT)
    flat = to_rgb(image)
    flat.save(file, "JPEG", quality=95, subsampling=0, xmp=packet, exif=exif if len(exif) <= _JPEG_SEGMENT else b"")


def _packets(said: _Texts) -> Iterator[bytes]:
    """XMP packets from the full record to only the AI-generated mark; the request alone can reproduce the image."""
    if said.record is not None:
        yield xmp_packet(composite=said.is_composite, record=record_to_json(said.record))
        brief = replace(said.record, stages=(), transitions=())
        yield xmp_packet(composite=said.is_composite, record=record_to_json(brief))
    yield xmp_packet(composite=said.is_composite) if said.is_marked else b""


def _exif(said: _Texts) -> bytes:
    if said.infotext is None:
        return b""
    exif = Image.Exif()
    exif.endian = ">"  # the comment's byte order, for readers that use the file's
    comment = UNICODE_COMMENT + said.infotext.encode("utf-16-be")
    exif[ExifTags.IFD.Exif] = {ExifTags.Base.UserComment.value: comment}
    return exif.tobytes()


_ENCODERS: dict[str, Callable[[Image.Image, io.BytesIO, _Texts], None]] = {
    ".png": _encode_png,
    ".jpg": _encode_jpeg,
    ".jpeg": _encode_jpeg,
    ".webp": _encode_webp,
}
