"""Writes a safetensors file tensor by tensor, with only one in memory; the file is complete or absent.

Space for the header is reserved at the start and the header written last, padded with spaces, which the format allows
(https://huggingface.co/docs/safetensors, "Format").
"""

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, BinaryIO

from mezzotint.checkpoints.plain_text import plain
from mezzotint.checkpoints.regular_file import reason
from mezzotint.errors import StorageError

if TYPE_CHECKING:
    import torch

_NAMES = {
    "float64": "F64",
    "float32": "F32",
    "float16": "F16",
    "bfloat16": "BF16",
    "float8_e4m3fn": "F8_E4M3",
    "float8_e5m2": "F8_E5M2",
    "float8_e4m3fnuz": "F8_E4M3FNUZ",
    "float8_e5m2fnuz": "F8_E5M2FNUZ",
    "float8_e8m0fnu": "F8_E8M0",
    "complex64": "C64",
    "uint64": "U64",
    "uint32": "U32",
    "uint16": "U16",
    "int64": "I64",
    "int32": "I32",
    "int16": "I16",
    "int8": "I8",
    "uint8": "U8",
    "bool": "BOOL",
}
WRITABLE = frozenset(_NAMES.values())  # dtypes, by their names in safetensors files
_ENTRY = 300  # most bytes of a header entry without its tensor's name: 8 dimensions, 2 offsets
_LONGER = 60  # most characters added to a layer's name to name one of its tensors
_ALIGNED = 64


class SafetensorsWriter:
    """Use as `with SafetensorsWriter(path, room) as file: file.add(...)`; an error or early exit leaves no file."""

    def __init__(self, path: Path, room: int) -> None:
        """Reserve `room` bytes for the header, as computed by `header_room`."""
        self._path = path
        self._temporary = path.with_name(f".mezzotint-{path.name}.part")
        self._start = -(-(room + 8) // _ALIGNED) * _ALIGNED
        self._entries: dict[str, object] = {}
        self._end = 0
        self.metadata: dict[str, str] = {}
        self._file: BinaryIO

    def __enter__(self) -> "SafetensorsWriter":
        """Open the file under a temporary name."""
        with writing(self._path):
            self._file = self._temporary.open("wb")
            self._file.seek(self._start)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Write the header and rename the file; remove it after an error."""
        try:
            if kind is None:
                with writing(self._path):
                    self._finish()
        finally:
            with suppress(OSError):  # a full disk, again: buffered data is discarded with the file
                self._file.close()
            self._temporary.unlink(missing_ok=True)

    def add(self, name: str, tensor: "torch.Tensor") -> None:
        """Write a tensor's bytes; raises StorageError if the disk is full."""
        data = _bytes_of(tensor)
        with writing(self._path):
            self._file.write(data)
        self._entries[name] = _entry(tensor, self._end, self._end + len(data))
        self._end += len(data)

    def _finish(self) -> None:
        header = json.dumps({"__metadata__": self.metadata, **self._entries} if self.metadata else self._entries)
        room = self._start - 8
        encoded = header.encode().ljust(room)
        if len(encoded) > room:
            raise ValueError(f"the header takes {len(encoded)} bytes, and {room} were left for it")
        self._file.seek(0)
        self._file.write(room.to_bytes(8, "little"))
        self._file.write(encoded)
        self._file.flush()
        os.fsync(self._file.fileno())
        self._file.close()
        self._temporary.replace(self._path)


def serialized(tensors: "Mapping[str, torch.Tensor]", metadata: Mapping[str, str]) -> bytes:
    """The bytes of a safetensors file; MemoryError, where the library ends the process, if there is no RAM for them."""
    entries: dict[str, object] = {"__metadata__": dict(metadata)}
    parts, end = [], 0
    for name, tensor in tensors.items():
        parts.append(_bytes_of(tensor))
        entries[name] = _entry(tensor, end, end + len(parts[-1]))
        end += len(parts[-1])
    header = json.dumps(entries).encode()
    header = header.ljust(-(-len(header) // _ALIGNED) * _ALIGNED)
    return b"".join([len(header).to_bytes(8, "little"), header, *parts])


def header_room(counts: Mapping[str, int], metadata: Mapping[str, str]) -> int:
    """Most bytes that a header takes with this metadata and, per name, `counts[name]` tensors named slightly longer."""
    tensors = sum((len(json.dumps(name)) + _LONGER + _ENTRY) * count for name, count in counts.items())
    return len(json.dumps(dict(metadata))) + 100 + tensors


def _entry(tensor: "torch.Tensor", start: int, end: int) -> dict[str, object]:
    dtype = _NAMES[str(tensor.dtype).removeprefix("torch.")]
    return {"dtype": dtype, "shape": list(tensor.shape), "data_offsets": [start, end]}


def _bytes_of(tensor: "torch.Tensor") -> memoryview:
    import torch

    flat = tensor.detach().cpu().contiguous().flatten()
    return flat.view(torch.uint8).numpy().data


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Translate the system's errors into ours."""
    try:
        yield
    except OSError as error:
        raise StorageError(f"{plain(path, 300)} cannot be written: {reason(error)}") from error
