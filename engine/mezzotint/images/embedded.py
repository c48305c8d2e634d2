"""The texts embedded in an image file, wherever its format stores them."""

from dataclasses import dataclass, field, replace

from PIL import ExifTags, Image

from mezzotint.images.decoder_errors import DECODER_ERRORS
from mezzotint.images.encoding import UNICODE_COMMENT
from mezzotint.images.png import left_out, text_of
from mezzotint.trouble import shown

_MAX_PACKET = 4 << 20  # bytes of XMP or of a comment that are read
_TEXT_TAGS = (ExifTags.Base.Make, ExifTags.Base.Model, ExifTags.Base.ImageDescription, ExifTags.Base.Software)


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddedTexts:
    """The texts found: text chunks by keyword, EXIF comment and maker note, EXIF texts, XMP packet."""

    chunks: dict[str, str] = field(default_factory=dict)
    comment: str | None = None
    maker_note: str | None = None
    exif: tuple[str, ...] = ()
    xmp: bytes = b""
    note: str | None = None


def embedded_texts(image: Image.Image) -> EmbeddedTexts:
    """Read all embedded texts without decoding pixels; broken EXIF loses only the EXIF texts."""
    chunks = {key: str(value) for key, value in image.info.items() if isinstance(key, str) and isinstance(value, str)}
    xmp = image.info.get("xmp", b"")
    xmp = xmp.encode("utf-8", "replace") if isinstance(xmp, str) else xmp
    unread = "; ".join(f"its {shown(name)} is left out ({why})" for name, why in left_out(image).items())
    found = EmbeddedTexts(chunks=chunks, xmp=xmp[:_MAX_PACKET] if isinstance(xmp, bytes) else b"", note=unread or None)
    return _with_exif(image, found)


def _with_exif(image: Image.Image, found: EmbeddedTexts) -> EmbeddedTexts:
    """Add the EXIF texts from the raw bytes: asking Pillow for a PNG's EXIF would decode the whole image."""
    raw = image.info.get("exif")
    plain = _plain_comment(image.info.get("comment"))
    if not isinstance(raw, bytes) or not raw:
        return replace(found, comment=plain)
    try:
        exif = Image.Exif()
        exif.load(raw[:_MAX_PACKET])
        inner = exif.get_ifd(ExifTags.IFD.Exif)
        texts = tuple(_retried(value) for tag in _TEXT_TAGS if isinstance(value := exif.get(tag), str))
        comment = _user_comment(inner.get(ExifTags.Base.UserComment))
        maker_note = _plain_comment(inner.get(ExifTags.Base.MakerNote))
    except DECODER_ERRORS as error:
        return replace(found, comment=plain, note=_joined(found.note, f"its EXIF is damaged ({type(error).__name__})"))
    return replace(found, comment=comment or plain, maker_note=maker_note, exif=texts)


def _joined(*notes: str | None) -> str:
    return "; ".join(note for note in notes if note)


def _user_comment(value: object) -> str | None:
    """The EXIF comment: eight bytes name the encoding; UTF-16 has either byte order, whatever the file's own."""
    if isinstance(value, bytes) and value.startswith(UNICODE_COMMENT):
        raw = value[len(UNICODE_COMMENT) :]
        readings = [raw.decode(order, "replace") for order in ("utf-16-be", "utf-16-le")]
        return max(readings, key=_western).lstrip("\ufeff").rstrip("\0") or None
    if isinstance(value, bytes) and value[:8] in (b"ASCII\0\0\0", b"JIS\0\0\0\0\0", bytes(8)):
        value = value[8:]
    return _plain_comment(value)


def _western(text: str) -> int:
    """Number of ASCII characters: settings always have some, and none when decoded in the wrong byte order."""
    return sum(one < "\x80" and one != "\0" for one in text)


def _plain_comment(value: object) -> str | None:
    if isinstance(value, bytes):
        value = text_of(value[:_MAX_PACKET])
    return value.strip("\0 ") or None if isinstance(value, str) else None


def _retried(text: str) -> str:
    """A text that Pillow decoded as Latin-1, in UTF-8 if its bytes are valid UTF-8."""
    try:
        return text_of(text.encode("latin-1"))
    except UnicodeEncodeError:
        return text
