"""Captions from files: text beside an image, and metadata.jsonl of Hugging Face's image folders."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from mezzotint.checkpoints.plain_text import plain
from mezzotint.checkpoints.regular_file import open_regular, read_limited, reason
from mezzotint.checkpoints.strict_json import parse_json_object
from mezzotint.errors import MezzotintError, StorageError
from mezzotint.images.untrusted import cleaned
from mezzotint.trouble import shown

MAX_CAPTION_FILE = 64 << 10  # bytes
MAX_METADATA_LINE = 1 << 20
_UTF16 = (b"\xff\xfe", b"\xfe\xff")


@dataclass(frozen=True, slots=True, kw_only=True)
class MetadataLine:
    """A line of a metadata.jsonl: an image's captions."""

    number: int
    file_name: str  # relative to the file's folder
    captions: tuple[str, ...]


def read_caption_file(path: Path) -> tuple[str, ...]:
    """Read a caption file: each line that is not empty is one caption.

    Raises StorageError if it is not UTF-8 or cannot be read, ModelRefused if it is too large or not a regular file.
    """
    return _lines(_decoded(read_limited(path, MAX_CAPTION_FILE), path))


def read_metadata(path: Path) -> Iterator[MetadataLine | MezzotintError]:
    """Yield each line's captions, or the error of a line that cannot be read. Raises StorageError for the file."""
    for number, offset, data in _raw_lines(path):
        if not data.strip():
            continue
        try:
            yield _metadata_line(path, number, offset, data)
        except MezzotintError as error:
            yield error


def _raw_lines(path: Path) -> Iterator[tuple[int, int, bytes]]:
    """Yield number, byte offset and bytes of each line; raises StorageError at one that is too long."""
    number = offset = 0
    with open_regular(path) as file:
        while data := _line(path, file.readline, number + 1):
            number += 1
            yield number, offset, data
            offset += len(data)


def _line(path: Path, readline: Callable[[int], bytes], number: int) -> bytes:
    try:
        data = readline(MAX_METADATA_LINE + 1)
    except OSError as error:
        raise StorageError(f"{shown(path)} cannot be read: {reason(error)}") from None
    if len(data) > MAX_METADATA_LINE:
        raise StorageError(
            f"{shown(path)}, line {number}: longer than {MAX_METADATA_LINE} bytes; it and the lines after it are left "
            "out: write one image per line"
        )
    return data


def _metadata_line(path: Path, number: int, offset: int, data: bytes) -> MetadataLine:
    where = f"{shown(path)}, line {number}"
    entry = parse_json_object(_decoded(data, path, offset).encode(), where)
    name, text = entry.get("file_name"), entry.get("text")
    if not isinstance(name, str):
        raise StorageError(f"{where}: there is no file_name; add the name of the image that it describes")
    texts = text if isinstance(text, list) else [text]
    if not all(isinstance(each, str) for each in texts):
        raise StorageError(f"{where}: text is {plain(text, 60)}; it must be the caption, or a list of captions")
    return MetadataLine(number=number, file_name=name, captions=tuple(filter(None, map(_tidy, texts))))


def _decoded(data: bytes, path: Path, offset: int = 0) -> str:
    """Decode UTF-8 that starts at a byte offset of the file; raises StorageError naming the first wrong byte."""
    try:
        return data.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        seems = "it seems to be UTF-16" if data.startswith(_UTF16) else f"0x{data[error.start]:02x} is invalid there"
        raise StorageError(
            f"{shown(path)} is not UTF-8 text at byte {offset + error.start} ({seems}): save it as UTF-8"
        ) from None


def _lines(text: str) -> tuple[str, ...]:
    return tuple(filter(None, map(_tidy, text.splitlines())))


def _tidy(caption: str) -> str:
    return " ".join(cleaned(caption).split())
