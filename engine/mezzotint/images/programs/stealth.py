"""Texts hidden in the lowest bits of pixels ("stealth PNG info"), as A1111's extension and NovelAI write them.

Bits run down the columns: a signature of 15 characters, the payload's length in bits as 32 bits, and the payload.
"""

import zlib

from PIL import Image

from mezzotint.images.decoder_errors import DECODER_ERRORS
from mezzotint.images.encoding import INFOTEXT_KEYWORD
from mezzotint.images.untrusted import MAX_TEXT, UnreadableError, parse_object

MAX_PIXELS = 1 << 24  # of images that are decoded for it
_FORMATS = ("PNG", "WEBP")  # which may be lossless
_PAYLOADS = {
    "A": {b"stealth_pnginfo": False, b"stealth_pngcomp": True},
    "RGB": {b"stealth_rgbinfo": False, b"stealth_rgbcomp": True},
}
_SIGNATURE, _LENGTH = 15, 4  # bytes
_MAX_BYTES = 4 * MAX_TEXT  # of text in UTF-8
_LOWEST_BIT = bytes(b"01"[value & 1] for value in range(256))


def hidden_texts(image: Image.Image) -> dict[str, str]:
    """The texts in an opened image, by keyword; decodes its pixels. Raises UnreadableError for a broken payload."""
    if image.format not in _FORMATS or image.mode not in ("RGB", "RGBA") or image.width * image.height > MAX_PIXELS:
        return {}
    try:
        image.load()
    except DECODER_ERRORS:
        return {}
    for channels, signatures in _PAYLOADS.items():
        if channels == "RGB" or image.mode == "RGBA":
            written = _payload(image, channels, signatures)
            if written is not None:
                return _chunks(written)
    return {}


def _payload(image: Image.Image, channels: str, signatures: dict[bytes, bool]) -> bytes | None:
    """The text in these channels; None if no signature is there."""
    seen = image.getchannel("A") if channels == "A" else image.convert("RGB")
    first = min(image.width, -(-8 * (_SIGNATURE + _LENGTH) // image.height))
    head = _bytes(_columns(seen, first), 0, _SIGNATURE + _LENGTH)
    compressed = signatures.get(head[:_SIGNATURE])
    if compressed is None:
        return None
    length = int.from_bytes(head[_SIGNATURE:], "big") // 8
    if length > _MAX_BYTES:
        raise UnreadableError(f"its hidden text has {length} bytes, at most {_MAX_BYTES} are read")
    written = _bytes(_columns(seen, image.width), _SIGNATURE + _LENGTH, length)
    if len(written) < length:
        raise UnreadableError("its hidden text is cut off")
    return _unpacked(written) if compressed else written


def _columns(image: Image.Image, count: int) -> bytes:
    """The values of the first columns, one column after the other."""
    return image.crop((0, 0, count, image.height)).transpose(Image.Transpose.TRANSPOSE).tobytes()


def _bytes(values: bytes, start: int, count: int) -> bytes:
    """As many bytes from the lowest bits of the values as there are, at most `count`."""
    count = max(0, min(count, len(values) // 8 - start))
    bits = values[8 * start : 8 * (start + count)].translate(_LOWEST_BIT)
    return int(bits or b"0", 2).to_bytes(count, "big")


def _unpacked(written: bytes) -> bytes:
    try:
        unpacking = zlib.decompressobj(zlib.MAX_WBITS | 16)  # gzip
        plain = unpacking.decompress(written, _MAX_BYTES)
    except zlib.error:
        raise UnreadableError("its hidden text is damaged") from None
    if unpacking.unconsumed_tail:
        raise UnreadableError(f"its hidden text unpacks to more than {_MAX_BYTES} bytes")
    return plain


def _chunks(written: bytes) -> dict[str, str]:
    """NovelAI's texts by keyword, which are an object of JSON, or A1111's infotext."""
    plain = written.decode("utf-8", "replace")
    if plain.lstrip().startswith("{"):
        found = parse_object(plain, _MAX_BYTES)
        if "Comment" in found or "Software" in found:
            return {key: value for key, value in found.items() if isinstance(value, str)}
    return {INFOTEXT_KEYWORD: plain}
