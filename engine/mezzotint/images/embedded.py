"""The texts inside an image's file, wherever its format keeps them."""

from dataclasses import dataclass, field, replace

from PIL import ExifTags, Image

from mezzotint.images.encoding import UNICODE_COMMENT
from mezzotint.images.reading import DECODER_ERRORS

_MAX_PACKET = 4 << 20  # bytes of XMP or of a comment that are looked at
_TEXT_TAGS = (ExifTags.Base.Make, ExifTags.Base.Model, ExifTags.Base.ImageDescription, ExifTags.Base.Software)


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddedTexts:
    """What was found: text chunks by keyword, the EXIF comment and maker's note, EXIF texts, the XMP packet."""

    chunks: dict[str, str] = field(default_factory=dict)
    comment: str | None = None
    maker_note: str | None = None
    exif: tuple[str, ...] = ()
    xmp: bytes = b""
    note: str | None = None


def embedded_texts(image: Image.Image) -> EmbeddedTexts:
    """All of them, without decoding a pixel; broken EXIF costs only what EXIF holds."""
    chunks = {key: str(value) for key, value in image.info.items() if isinstance(key, str) and isinstance(value, str)}
    xmp = image.info.get("xmp", b"")
    xmp = xmp.encode("utf-8", "replace") if isinstance(xmp, str) else xmp
    found = EmbeddedTexts(chunks=chunks, xmp=xmp[:_MAX_PACKET] if isinstance(xmp, bytes) else b"")
    return _with_exif(image, found)


def _with_exif(image: Image.Image, found: EmbeddedTexts) -> EmbeddedTexts:
    """From the raw bytes: asking Pillow for a PNG's EXIF would decode the whole image."""
    raw = image.info.get("exif")
    plain = _plain_comment(image.info.get("comment"))
    if not isinstance(raw, bytes) or not raw:
        return replace(found, comment=plain)
    try:
        exif = Image.Exif()
        exif.load(raw[:_MAX_PACKET])
        inner = exif.get_ifd(ExifTags.IFD.Exif)
        texts = tuple(value for tag in _TEXT_TAGS if isinstance(value := exif.get(tag), str))
        comment = _user_comment(inner.get(ExifTags.Base.UserComment))
        maker_note = _plain_comment(inner.get(ExifTags.Base.MakerNote))
    except DECODER_ERRORS as error:
        return replace(found, comment=plain, note=f"its EXIF is damaged ({type(error).__name__})")
    return replace(found, comment=comment or plain, maker_note=maker_note, exif=texts)


def _user_comment(value: object) -> str | None:
    """EXIF's comment: eight bytes name the encoding; UTF-16 comes in either order, whatever the file's own."""
    if isinstance(value, bytes) and value.startswith(UNICODE_COMMENT):
        raw = value[len(UNICODE_COMMENT) :]
        readings = [raw.decode(order, "replace") for order in ("utf-16-be", "utf-16-le")]
        return max(readings, key=_western).lstrip("\ufeff").rstrip("\0") or None
    if isinstance(value, bytes) and value[:8] in (b"ASCII\0\0\0", b"JIS\0\0\0\0\0", bytes(8)):
        value = value[8:]
    return _plain_comment(value)


def _western(text: str) -> int:
    """How much of a text is ASCII: settings always hold some, and read in the wrong order they hold none."""
    return sum(one < "\x80" and one != "\0" for one in text)


def _plain_comment(value: object) -> str | None:
    if isinstance(value, bytes):
        value = value[:_MAX_PACKET].decode("utf-8", "replace")
    return value.strip("\0 ") or None if isinstance(value, str) else None
