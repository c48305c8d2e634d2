"""Encode an image and its record as a PNG, JPEG or WebP file."""

import io
from collections.abc import Callable, Iterator
from dataclasses import replace

from PIL import ExifTags, Image
from PIL.PngImagePlugin import PngInfo

from mezzotint.errors import StorageError, UsageError
from mezzotint.images.a1111 import infotext_of
from mezzotint.images.infotext import write_infotext
from mezzotint.images.reading import to_rgb
from mezzotint.images.record import ImageRecord, record_to_json
from mezzotint.images.xmp import xmp_packet

RECORD_KEYWORD = "mezzotint"
INFOTEXT_KEYWORD = "parameters"
UNICODE_COMMENT = b"UNICODE\0"  # followed by UTF-16, big-endian as A1111 writes it

_XMP_KEYWORD = "XML:com.adobe.xmp"
_LARGEST_SIDE = {".jpg": 65_500, ".jpeg": 65_500, ".webp": 16_383}
_JPEG_SEGMENT = 65_000  # bytes of EXIF or of XMP that always fit a JPEG file


def encode_image(image: Image.Image, suffix: str, record: ImageRecord) -> bytes:
    """The file's bytes in the format of `suffix` (.png, .jpg, .jpeg, .webp); the image is RGB or RGBA."""
    suffix = suffix.lower()
    encoder = _ENCODERS.get(suffix)
    if encoder is None:
        raise UsageError(
            f"an image cannot be written as {suffix or 'a file without a suffix'}: use .png, .jpg or .webp"
        )
    check_side(image, suffix)
    file = io.BytesIO()
    encoder(image, file, record)
    return file.getvalue()


def check_side(image: Image.Image, suffix: str) -> None:
    """Raise StorageError if a format does not allow an image of that size."""
    largest = _LARGEST_SIDE.get(suffix)
    if largest is not None and max(image.size) > largest:
        width, height = image.size
        raise StorageError(
            f"{suffix} allows at most {largest} pixels per side, the image is {width}x{height}: use .png"
        )


def _encode_png(image: Image.Image, file: io.BytesIO, record: ImageRecord) -> None:
    texts = PngInfo()
    texts.add_text(INFOTEXT_KEYWORD, write_infotext(infotext_of(record)))  # tEXt, or iTXt beyond Latin-1
    texts.add_text(RECORD_KEYWORD, record_to_json(record))
    texts.add_itxt(_XMP_KEYWORD, xmp_packet(composite=_is_composite(record)).decode())
    image.save(file, "PNG", pnginfo=texts)


def _encode_webp(image: Image.Image, file: io.BytesIO, record: ImageRecord) -> None:
    packet = xmp_packet(composite=_is_composite(record), record=record_to_json(record))
    image.save(file, "WEBP", quality=95, exif=_exif(record), xmp=packet)


def _encode_jpeg(image: Image.Image, file: io.BytesIO, record: ImageRecord) -> None:
    exif = _exif(record)
    packet = next(one for one in _packets(record) if len(one) <= _JPEG_SEGMENT)
    flat = to_rgb(image)
    flat.save(file, "JPEG", quality=95, subsampling=0, xmp=packet, exif=exif if len(exif) <= _JPEG_SEGMENT else b"")


def _packets(record: ImageRecord) -> Iterator[bytes]:
    """XMP packets from the full record to only the AI-generated mark; the request alone can reproduce the image."""
    composite = _is_composite(record)
    yield xmp_packet(composite=composite, record=record_to_json(record))
    yield xmp_packet(composite=composite, record=record_to_json(replace(record, stages=(), transitions=())))
    yield xmp_packet(composite=composite)


def _exif(record: ImageRecord) -> bytes:
    comment = UNICODE_COMMENT + write_infotext(infotext_of(record)).encode("utf-16-be")
    exif = Image.Exif()
    exif.endian = ">"  # the comment's byte order, for readers that use the file's
    exif[ExifTags.IFD.Exif] = {ExifTags.Base.UserComment.value: comment}
    return exif.tobytes()


def _is_composite(record: ImageRecord) -> bool:
    return any(one.role == "init" for one in record.request.images)


_ENCODERS: dict[str, Callable[[Image.Image, io.BytesIO, ImageRecord], None]] = {
    ".png": _encode_png,
    ".jpg": _encode_jpeg,
    ".jpeg": _encode_jpeg,
    ".webp": _encode_webp,
}
