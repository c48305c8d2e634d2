"""The header of a safetensors file, validated by arithmetic before anything else is read.

Format: https://huggingface.co/docs/safetensors, "Format": a 64-bit little-endian header size, a JSON header, tensors.
The checks are our own, so that their outcome does not depend on the wording of a library's errors. They are no stricter
than the library's, except that there are tensors, each named once.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import BinaryIO

from mezzotint.checkpoints.foreign_kind import foreign_kind
from mezzotint.checkpoints.plain_text import plain, size, size_of
from mezzotint.checkpoints.regular_file import is_settled, open_regular, reason
from mezzotint.checkpoints.strict_json import parse_json_object
from mezzotint.errors import ModelRefused, StorageError

MAX_HEADER = 100_000_000  # bytes, as in the library; metadata may hold a whole workflow, or all tags of a dataset
MAX_TENSORS = 500_000
MAX_RANK = 64  # of torch
_MOST_VALUES = 12 * MAX_TENSORS  # an entry has six, and metadata few
_PREFIX = 8  # bytes of the header's own size
_START = 512  # bytes read to identify other kinds of file
_MOST_REMEMBERED = 20 * 2**20  # bytes, approximately

BITS = {
    **dict.fromkeys(("F4",), 4),
    **dict.fromkeys(("F6_E2M3", "F6_E3M2"), 6),
    **dict.fromkeys(("BOOL", "U8", "I8", "F8_E5M2", "F8_E4M3", "F8_E8M0", "F8_E4M3FNUZ", "F8_E5M2FNUZ"), 8),
    **dict.fromkeys(("I16", "U16", "F16", "BF16"), 16),
    **dict.fromkeys(("I32", "U32", "F32"), 32),
    **dict.fromkeys(("I64", "U64", "F64", "C64"), 64),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class TensorSpec:
    """Dtype, shape and byte range of a tensor in the file."""

    dtype: str
    shape: tuple[int, ...]
    start: int  # bytes from the start of the file
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """Tensors of a safetensors file in file order, and its metadata."""

    path: Path
    tensors: Mapping[str, TensorSpec]
    metadata: Mapping[str, str]
    bytes: int  # of the whole file


_Known = tuple[Path, int, int, int, int, int]  # path, device, inode, size, mtime, ctime
_remembered: dict[_Known, Header] = {}  # most recent headers: a job asks for each about ten times
_remembering = Lock()


def read_header(path: Path) -> Header:
    """Read and check a header; raises ModelRefused if the file is invalid, StorageError if it cannot be read.

    Cached until the file changes.
    """
    with open_regular(path) as file:
        try:
            found = os.fstat(file.fileno())
            known = (path, found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)
            header = _remembered.get(known)
            if header is not None:
                return header
            start, data = _read(path, file, found.st_size)
        except OSError as error:
            raise StorageError(f"{plain(path, 300)} cannot be read: {reason(error)}") from None
    header = _checked(path, start, data, found.st_size)
    if is_settled(found):
        _remember(known, header)
    return header


def _remember(known: _Known, header: Header) -> None:
    with _remembering:
        _remembered[known] = header
        while sum(map(_bytes_in_memory, _remembered.values())) > _MOST_REMEMBERED:
            del _remembered[next(iter(_remembered))]


def _bytes_in_memory(header: Header) -> int:
    return 1000 + 400 * len(header.tensors) + sum(map(len, header.metadata.values()))


def _checked(path: Path, start: int, data: bytes, total: int) -> Header:
    entries = parse_json_object(data, path, most_values=_MOST_VALUES)
    metadata = _metadata(path, entries.pop("__metadata__", None))
    if len(entries) > MAX_TENSORS:
        raise _refused(path, f"{len(entries)} tensors; at most {MAX_TENSORS} are read")
    specs = [(name, _spec(path, name, entry, start)) for name, entry in entries.items()]
    specs.sort(key=lambda item: (item[1].start, item[1].end))
    _check_cover(path, specs, start, total)
    return Header(path=path, tensors=dict(specs), metadata=metadata, bytes=total)


def _read(path: Path, file: BinaryIO, total: int) -> tuple[int, bytes]:
    """Return where the tensors start, and the header's bytes."""
    if total == 0:
        raise _refused(path, "the file is empty: an incomplete download")
    beginning = file.read(_START)
    length = int.from_bytes(beginning[:_PREFIX], "little")
    if not _begins_as_json(beginning) or length > MAX_HEADER:
        raise _refused(path, _why_no_header(beginning, length, total))
    if total < _PREFIX + length:
        raise _refused(path, f"incomplete: {size_of(total, _PREFIX + length)} of the header alone")
    data = beginning[_PREFIX : _PREFIX + length] + file.read(max(0, _PREFIX + length - len(beginning)))
    if len(data) != length:
        raise _refused(path, "the file became shorter while it was read")
    return _PREFIX + length, data


def _begins_as_json(beginning: bytes) -> bool:
    return beginning[_PREFIX:].lstrip(b" \t\r\n").startswith(b"{")


def _why_no_header(beginning: bytes, length: int, total: int) -> str:
    if not any(beginning):
        return "nothing but zeros where the header should be: an incomplete download"
    kind = foreign_kind(beginning)
    if kind is not None:
        return kind
    if _begins_as_json(beginning):
        return f"a header of {size(length)}; at most {size(MAX_HEADER)} are read"
    if total < _PREFIX + 2:
        return f"incomplete: {total} bytes cannot hold a header"
    return "not a safetensors file: there is no header at its start"


def _metadata(path: Path, value: object) -> dict[str, str]:
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise _refused(path, "__metadata__ is not an object")
    result: dict[str, str] = {}
    for key, text in value.items():
        if not isinstance(text, str):
            raise _refused(path, f"__metadata__ '{plain(key, 60)}' is not text")
        result[key] = text
    return result


def _spec(path: Path, name: str, entry: object, start: int) -> TensorSpec:
    if any("\ud800" <= each <= "\udfff" for each in name):
        raise _refused(path, f"the tensor name '{plain(name, 60)}' is no proper text")
    if not isinstance(entry, dict) or not entry.keys() >= {"dtype", "shape", "data_offsets"}:
        raise _refused(path, f"the entry of '{plain(name, 60)}' is not a dtype, a shape and two offsets")
    dtype, shape, offsets = entry["dtype"], entry["shape"], entry["data_offsets"]
    if not isinstance(dtype, str) or dtype not in BITS:
        raise _refused(path, f"'{plain(name, 60)}' has the unknown dtype {plain(dtype, 30)}")
    if not _are_counts(shape) or len(shape) > MAX_RANK:
        raise _refused(path, f"'{plain(name, 60)}' has the impossible shape {plain(shape, 60)}")
    if not _are_counts(offsets) or len(offsets) != 2 or offsets[0] > offsets[1]:
        raise _refused(path, f"'{plain(name, 60)}' has the impossible offsets {plain(offsets, 60)}")
    bits = BITS[dtype]
    for side in shape:  # Python's integers do not overflow, and each is below 2**63
        bits *= side
    if bits != 8 * (offsets[1] - offsets[0]):
        have, need = offsets[1] - offsets[0], bits / 8 if bits < 2**60 else "too many"
        raise _refused(path, f"'{plain(name, 60)}' takes {have} bytes; its shape needs {need}")
    return TensorSpec(dtype=dtype, shape=tuple(shape), start=start + offsets[0], end=start + offsets[1])


def _are_counts(value: object) -> bool:
    return isinstance(value, list) and all(type(item) is int and 0 <= item < 2**63 for item in value)


def _check_cover(path: Path, specs: list[tuple[str, TensorSpec]], start: int, total: int) -> None:
    """Check that the tensors are contiguous from the header to the end of the file."""
    position = start
    for name, spec in specs:
        if spec.start != position:
            fault = "overlaps the tensor before it" if spec.start < position else "leaves a gap before it"
            raise _refused(path, f"'{plain(name, 60)}' {fault}")
        position = spec.end
    if not specs:
        raise _refused(path, "the file holds no tensors")
    if total < position:
        raise _refused(path, f"incomplete: {size_of(total, position)}; download it again")
    if total > position:
        raise _refused(path, f"{total - position} bytes too many after the last tensor")


def _refused(path: Path, what: str) -> ModelRefused:
    return ModelRefused(f"{plain(path, 300)}: {what}")
