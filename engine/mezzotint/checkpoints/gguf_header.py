"""The header of a GGUF file, validated by arithmetic before anything else is read.

Format: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md. The gguf package maps the whole file and trusts its
contents, so the header is parsed here; it never takes more memory than the file has bytes.
"""

import os
import struct
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import BinaryIO

from mezzotint.checkpoints.header import MAX_TENSORS
from mezzotint.checkpoints.plain_text import plain, size, size_of
from mezzotint.checkpoints.regular_file import open_regular, reason
from mezzotint.errors import ModelRefused, StorageError

MAX_HEADER = 64 * 2**20  # contains the vocabularies of language models
MAX_KEYS = 10_000
MAX_NAME = 1000  # bytes
MAX_VALUE = 2**16  # bytes; longer strings are dropped
MAX_RANK = 4
_MAX_LISTED = 8  # elements; longer lists are dropped
_MAX_ALIGNMENT = 2**16
_USUAL_ALIGNMENT = 32
_VERSIONS = (2, 3)
_NUMBERS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
_TEXT, _LIST = 8, 9
_ORIGINAL_SHAPE = "comfy.gguf.orig_shape."  # for tensors whose last dimension is not a multiple of the block size

# By type number in the file: name, elements per block, bytes per block.
TYPES = {
    0: ("F32", 1, 4),
    1: ("F16", 1, 2),
    2: ("Q4_0", 32, 18),
    3: ("Q4_1", 32, 20),
    6: ("Q5_0", 32, 22),
    7: ("Q5_1", 32, 24),
    8: ("Q8_0", 32, 34),
    10: ("Q2_K", 256, 84),
    11: ("Q3_K", 256, 110),
    12: ("Q4_K", 256, 144),
    13: ("Q5_K", 256, 176),
    14: ("Q6_K", 256, 210),
    30: ("BF16", 1, 2),
}

Value = str | int | float | tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class GgufTensor:
    """Type, shape and byte range of a tensor in the file."""

    type: str
    shape: tuple[int, ...]
    start: int  # bytes from the start of the file
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class GgufHeader:
    """Tensors of a GGUF file in file order, and its metadata. Long strings and lists are left out."""

    path: Path
    tensors: Mapping[str, GgufTensor]
    metadata: Mapping[str, Value]
    bytes: int  # of the whole file

    @property
    def architecture(self) -> str:
        """Architecture of the network, such as `sdxl`; empty if not stated."""
        return str(self.metadata.get("general.architecture", ""))


def read_gguf_header(path: Path) -> GgufHeader:
    """Read and check a header; raises ModelRefused if the file is invalid, StorageError if it cannot be read."""
    with open_regular(path) as file:
        try:
            total = os.fstat(file.fileno()).st_size
            return _read(path, _Cursor(path, file, total), total)
        except OSError as error:
            raise StorageError(f"{plain(path, 300)} cannot be read: {reason(error)}") from None


def read_gguf_lists(path: Path, names: Collection[str], most: int) -> dict[str, list[str] | list[float]]:
    """Those of the named lists that the metadata has, of at most `most` elements; raises like `read_gguf_header`."""
    found, seen = {}, set[str]()
    with open_regular(path) as file:
        try:
            cursor = _Cursor(path, file, os.fstat(file.fileno()).st_size)
            _, keys = _counts(path, cursor)
            for _ in range(keys):
                key = cursor.name(seen)
                if key in names:
                    found[key] = cursor.elements(most)
                else:
                    cursor.value()
        except OSError as error:
            raise StorageError(f"{plain(path, 300)} cannot be read: {reason(error)}") from None
    return found


def _read(path: Path, cursor: "_Cursor", total: int) -> GgufHeader:
    count, keys = _counts(path, cursor)
    metadata: dict[str, Value] = {}
    seen: set[str] = set()
    for _ in range(keys):
        key = cursor.name(seen)
        value = cursor.value()
        if value is not None:
            metadata[key] = value
    if metadata.get("split.count", 1) not in (0, 1):
        raise _refused(path, "one shard of a model in several files; merge them, or get the whole file")
    entries = list(_entries(path, cursor, count))
    alignment = _alignment(path, metadata)
    start = -(-cursor.position // alignment) * alignment
    tensors = {name: _placed(path, name, each, start, alignment, metadata) for name, each in entries}
    ordered = dict(sorted(tensors.items(), key=lambda item: item[1].start))
    _check_places(path, ordered, total)
    return GgufHeader(path=path, tensors=ordered, metadata=metadata, bytes=total)


def _counts(path: Path, cursor: "_Cursor") -> tuple[int, int]:
    """Numbers of tensors and of keys, after the version."""
    _check_version(path, cursor)
    count, keys = cursor.number("Q"), cursor.number("Q")
    if count > MAX_TENSORS or keys > MAX_KEYS:
        raise _refused(path, f"{count} tensors and {keys} keys; at most {MAX_TENSORS} and {MAX_KEYS} are read")
    return count, keys


def _check_version(path: Path, cursor: "_Cursor") -> None:
    magic = cursor.take(4)
    if magic != b"GGUF":
        raise _refused(path, "not a GGUF file")
    version = cursor.number("I")
    if version & 0xFFFF == 0:
        raise _refused(path, "a GGUF file for big-endian machines, which is not supported")
    if version not in _VERSIONS:
        raise _refused(path, f"GGUF version {version}; versions 2 and 3 are supported")


def _alignment(path: Path, metadata: Mapping[str, Value]) -> int:
    alignment = metadata.get("general.alignment", _USUAL_ALIGNMENT)
    if type(alignment) is not int or not 0 < alignment <= _MAX_ALIGNMENT or alignment & (alignment - 1):
        raise _refused(path, f"the impossible alignment {plain(alignment, 30)}")
    return alignment


def _entries(path: Path, cursor: "_Cursor", count: int) -> Iterator[tuple[str, tuple[int, list[int], int]]]:
    """Yield each name with its type number, dimensions from last to first, and offset."""
    seen: set[str] = set()
    for _ in range(count):
        name = cursor.name(seen)
        rank = cursor.number("I")
        if rank > MAX_RANK:
            raise _refused(path, f"'{plain(name, 60)}' has {rank} dimensions; at most {MAX_RANK} are read")
        sides = [cursor.number("Q") for _ in range(rank)]
        yield name, (cursor.number("I"), sides, cursor.number("Q"))


def _placed(
    path: Path, name: str, entry: tuple[int, list[int], int], start: int, alignment: int, metadata: Mapping[str, Value]
) -> GgufTensor:
    number, sides, offset = entry
    if number not in TYPES:
        known = ", ".join(each for each, _, _ in TYPES.values())
        raise _refused(path, f"'{plain(name, 60)}' has the type {_type_name(number)}; supported are {known}")
    type_, block, block_bytes = TYPES[number]
    if not all(sides) or (sides[0] if sides else 1) % block:
        raise _refused(path, f"'{plain(name, 60)}' has the impossible shape {plain(sides[::-1], 60)} for {type_}")
    if offset % alignment:
        raise _refused(path, f"'{plain(name, 60)}' has the impossible offset {offset}")
    shape = metadata.get(_ORIGINAL_SHAPE + name, tuple(reversed(sides)))
    if not isinstance(shape, tuple) or min(shape, default=1) < 1 or prod(shape) != prod(sides):
        raise _refused(path, f"'{plain(name, 60)}' cannot have the original shape {plain(shape, 60)}")
    place = start + offset
    return GgufTensor(type=type_, shape=shape, start=place, end=place + prod(sides) // block * block_bytes)


def _type_name(number: int) -> str:
    from gguf.constants import GGMLQuantizationType

    return GGMLQuantizationType(number).name if number in set(GGMLQuantizationType) else str(number)


def _check_places(path: Path, tensors: Mapping[str, GgufTensor], total: int) -> None:
    if not tensors:
        raise _refused(path, "the file holds no tensors")
    position = 0
    for name, tensor in tensors.items():
        if tensor.start < position:
            raise _refused(path, f"'{plain(name, 60)}' overlaps the tensor before it")
        position = tensor.end
    if total < position:
        raise _refused(path, f"incomplete: {size_of(total, position)}; download it again")


class _Cursor:
    """A read position in a header, which never passes the end of the file or MAX_HEADER."""

    def __init__(self, path: Path, file: BinaryIO, total: int) -> None:
        self.position = 0
        self._path, self._file, self._total = path, file, total

    def take(self, count: int) -> bytes:
        self._check(count)
        data = self._file.read(count)
        if len(data) < count:
            raise _refused(self._path, "the file ends inside its header; download it again")
        self.position += count
        return data

    def number(self, form: str) -> int:
        return int(self._unpacked(form))

    def name(self, seen: set[str]) -> str:
        """Read a name and add it to `seen`; raises ModelRefused if it is already there."""
        length = self.number("Q")
        if length > MAX_NAME:
            raise _refused(self._path, f"a name of {length} bytes; at most {MAX_NAME} are read")
        name = self._text(length)
        if not name or not name.isprintable() or name in seen:
            why = "appears twice" if name in seen else "is empty, or has control characters"
            raise _refused(self._path, f"the name '{plain(name, 60)}' {why}")
        seen.add(name)
        return name

    def value(self) -> Value | None:
        """Read the value of a key; None if it is too long to keep."""
        kind = self.number("I")
        if kind == _TEXT:
            return self._kept_text()
        return self._list() if kind == _LIST else self._unpacked(self._form(kind))

    def elements(self, most: int) -> list[str] | list[float]:
        """Read the value of a key that is a list, in full."""
        if self.number("I") != _LIST:
            raise _refused(self._path, "a single value where its header should have a list")
        kind, count = self.number("I"), self.number("Q")
        if count > most:
            raise _refused(self._path, f"a list of {count} elements in its header; at most {most} are read")
        if kind == _TEXT:
            return [self._text(self.number("Q")) for _ in range(count)]
        form = self._form(kind)
        return list(struct.unpack(f"<{count}{form}", self.take(count * struct.calcsize(form))))

    def _list(self) -> Value | None:
        kind, count = self.number("I"), self.number("Q")
        if kind == _TEXT:
            for _ in range(count):  # ends soon: each takes at least 8 bytes of a bounded header
                self._skip(self.number("Q"))
            return None
        form = self._form(kind)
        if count > _MAX_LISTED or form in "fd":
            self._skip(count * struct.calcsize(form))
            return None
        return tuple(self.number(form) for _ in range(count))

    def _form(self, kind: int) -> str:
        if kind not in _NUMBERS:
            raise _refused(self._path, f"a value of the unknown type {kind}")
        return _NUMBERS[kind]

    def _unpacked(self, form: str) -> int | float:
        (number,) = struct.unpack("<" + form, self.take(struct.calcsize("<" + form)))
        return number if isinstance(number, float) else int(number)

    def _kept_text(self) -> str | None:
        length = self.number("Q")
        if length > MAX_VALUE:
            self._skip(length)
            return None
        return self._text(length)

    def _text(self, length: int) -> str:
        try:
            return self.take(length).decode("utf-8")
        except UnicodeDecodeError:
            raise _refused(self._path, "a text in its header is not UTF-8") from None

    def _skip(self, count: int) -> None:
        self._check(count)
        self._file.seek(count, os.SEEK_CUR)
        self.position += count

    def _check(self, count: int) -> None:
        if self.position + count > self._total:
            raise _refused(self._path, "the file ends inside its header; download it again")
        if self.position + count > MAX_HEADER:
            raise _refused(self._path, f"a header larger than {size(MAX_HEADER)}")


def _refused(path: Path, what: str) -> ModelRefused:
    return ModelRefused(f"{plain(path, 300)}: {what}")
