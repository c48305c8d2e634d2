"""PNG files with our own limits of text and colour profiles: what exceeds them is left out and named, not refused."""

import zlib
from typing import IO

from PIL import Image
from PIL.PngImagePlugin import PngImageFile, PngStream, iTXt

SIGNATURE = b"\x89PNG\r\n\x1a\n"
MAX_TEXT = 16 << 20  # bytes of one text, decompressed
MAX_TEXTS = 64 << 20  # bytes of all of them
PROFILE = "icc_profile"  # key of the colour profile in what is left out
MAX_PROFILE = 4 << 20  # bytes; printer profiles have one or two megabytes

_LIMITED = {b"tEXt": MAX_TEXT, b"zTXt": MAX_TEXT, b"iTXt": MAX_TEXT, b"iCCP": MAX_PROFILE}
_MOST_INFLATED = 1032  # times the size of its data that deflate can give
_XMP = "XML:com.adobe.xmp"
_NOT_TEXT = ("transparency", "icc_profile", "gamma", "dpi", "background", "duration", "loop")  # that Pillow acts on


class _TooMuchError(ValueError):
    """Data that decompresses to more than its limit."""


def left_out(image: Image.Image) -> dict[str, str]:
    """Keywords of an opened image's texts, and PROFILE, that are not read, and why."""
    return image.left_out if isinstance(image, BoundedPng) else {}


def text_of(raw: bytes) -> str:
    """Text in UTF-8, which many programs write where Latin-1 is specified; in Latin-1 if it is not valid UTF-8."""
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return raw.decode("latin-1")


class BoundedPng(PngImageFile):
    """A PNG file whose texts and colour profile have our limits instead of Pillow's.

    `left_out`: keywords of texts, and PROFILE, that are not read, and why.
    """

    def __init__(self, file: IO[bytes]) -> None:
        self.left_out: dict[str, str] = {}
        super().__init__(file)

    @property
    def png(self) -> PngStream | None:
        """The stream that Pillow reads chunks from."""
        return self._stream

    @png.setter
    def png(self, stream: PngStream | None) -> None:
        """Put our own stream in the place of Pillow's."""
        file = None if stream is None else stream.fp
        self._stream = None if file is None else _BoundedStream(file, self.left_out)


class _BoundedStream(PngStream):
    """Reads texts and colour profiles itself; Pillow everything else."""

    def __init__(self, file: IO[bytes], left_out: dict[str, str]) -> None:
        super().__init__(file)
        self._file, self._left_out, self._is_skipped = file, left_out, False

    def call(self, cid: bytes, pos: int, length: int) -> bytes:
        """Read a chunk, unless it is too long."""
        limit = _LIMITED.get(cid)
        self._is_skipped = limit is not None and length > limit
        if not self._is_skipped:
            read: bytes = super().call(cid, pos, length)
            return read
        self._file.seek(length, 1)
        name = PROFILE if cid == b"iCCP" else cid.decode("ascii")
        self._left_out[name] = f"of {length / (1 << 20):.1f} MB"
        return b""

    def crc(self, cid: bytes, data: bytes) -> None:
        """Check what was read."""
        if self._is_skipped:
            self.crc_skip(cid, data)
        else:
            super().crc(cid, data)

    def chunk_tEXt(self, pos: int, length: int) -> bytes:  # noqa: ARG002, N802
        """Text."""
        chunk = self._read(length)
        key, _, value = chunk.partition(b"\0")
        self._keep(key, value)
        if key == b"exif":
            self.im_info["exif"] = value
        return chunk

    def chunk_zTXt(self, pos: int, length: int) -> bytes:  # noqa: ARG002, N802
        """Compressed text: keyword, zero, method, data."""
        chunk = self._read(length)
        key, _, rest = chunk.partition(b"\0")
        value = self._inflated_text(text_of(key), rest[:1], rest[1:])
        if value is not None:
            self._keep(key, value)
        return chunk

    def chunk_iTXt(self, pos: int, length: int) -> bytes:  # noqa: ARG002, N802
        """International text: keyword, zero, flag, method, language, zero, translated keyword, zero, data."""
        chunk = self._read(length)
        key, _, rest = chunk.partition(b"\0")
        language, translated, value = [*rest[2:].split(b"\0", 2), b"", b""][:3]
        if rest[:1] not in (b"", b"\0"):
            inflated = self._inflated_text(text_of(key), rest[1:2], value)
            if inflated is None:
                return chunk
            value = inflated
        self._keep(key, value, text_of(language), text_of(translated))
        return chunk

    def chunk_iCCP(self, pos: int, length: int) -> bytes:  # noqa: ARG002, N802
        """A colour profile: name, zero, method, data."""
        chunk = self._read(length)
        if "icc_profile" in self.im_info:  # there can be only one, and each takes time
            return chunk
        _, _, rest = chunk.partition(b"\0")
        self.im_info["icc_profile"] = self._inflated(PROFILE, rest[:1], rest[1:], MAX_PROFILE)
        return chunk

    def _read(self, length: int) -> bytes:
        data = self._file.read(length)
        if len(data) < length:
            raise OSError("the file is cut off")
        return data

    def _keep(self, key: bytes, value: bytes, language: str = "", translated: str = "") -> None:
        name = text_of(key)
        if not name:
            return
        self.text_memory += len(value)
        if self.text_memory > MAX_TEXTS:
            self._left_out[name] = f"beyond {MAX_TEXTS >> 20} MB of texts"
            return
        text: str = iTXt(text_of(value), language, translated)
        self.im_text[name] = text
        if name == _XMP:
            self.im_info["xmp"] = value
        if name not in _NOT_TEXT:
            self.im_info[name] = text

    def _inflated_text(self, name: str, method: bytes, data: bytes) -> bytes | None:
        """Decompress a text, unless the sum of texts is reached: what is then left out takes no time, either."""
        room = min(MAX_TEXT, MAX_TEXTS - self.text_memory)
        if room <= 0:
            self._left_out[name] = f"beyond {MAX_TEXTS >> 20} MB of texts"
            return None
        value = self._inflated(name, method, data, room)
        if value is None:
            self.text_memory += min(room, len(data) * _MOST_INFLATED)
        return value

    def _inflated(self, name: str, method: bytes, data: bytes, limit: int) -> bytes | None:
        """Decompress up to a limit; None, and named, if that cannot be done."""
        try:
            if method not in (b"", b"\0"):
                raise zlib.error("unknown method")
            return _decompressed(data, limit)
        except _TooMuchError:
            self._left_out[name] = f"of more than {limit >> 20} MB"
        except zlib.error:
            self._left_out[name] = "damaged"
        return None


def _decompressed(data: bytes, limit: int) -> bytes:
    inflating = zlib.decompressobj()
    value = inflating.decompress(data, limit)
    if inflating.unconsumed_tail:
        raise _TooMuchError
    return value
