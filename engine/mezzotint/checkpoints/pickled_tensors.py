"""Files of a few tensors that torch.save wrote, read without unpickling: zip archives, or pickles in a row."""

import io
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from mezzotint.checkpoints.header import BITS
from mezzotint.checkpoints.pickle_opcodes import PickledTensor, StorageRef, interpret
from mezzotint.checkpoints.plain_text import plain
from mezzotint.checkpoints.regular_file import read_limited
from mezzotint.errors import ModelRefused

if TYPE_CHECKING:
    import torch

_MAGIC = 0x1950A86A20F9469CFC6C  # of torch.save before 1.6
_VERSION = 1001
_LARGEST_PICKLE = 4 * 2**20  # bytes, without the tensors
_TORCH_NAMES = {
    "F32": "float32",
    "F16": "float16",
    "BF16": "bfloat16",
    "F64": "float64",
    "I64": "int64",
    "I32": "int32",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class PickledFile:
    """The value in a file, whose tensors are PickledTensor, and the bytes of all storages by key."""

    path: Path
    content: object
    storages: Mapping[str, bytes]

    def tensor(self, found: PickledTensor) -> "torch.Tensor":
        """A tensor of the value."""
        import torch

        dtype = getattr(torch, _TORCH_NAMES[found.storage.dtype])
        if 0 in found.shape:
            return torch.empty(found.shape, dtype=dtype)
        whole = torch.frombuffer(bytearray(self.storages[found.storage.key]), dtype=dtype)
        return whole.as_strided(found.shape, found.stride, found.offset).clone()


def read_pickled(path: Path, limit: int) -> PickledFile:
    """Read a file of at most `limit` bytes; raises ModelRefused for one with anything but plain values and tensors."""
    data = read_limited(path, limit)
    try:
        if zipfile.is_zipfile(io.BytesIO(data)):
            content, storages = _of_archive(data, limit)
        else:
            content, storages = _of_pickles(data)
    except Exception as error:  # noqa: BLE001  whatever a damaged archive or pickle leads to
        raise ModelRefused(
            f"{plain(path, 300)}: not a file of plain tensors, so it is not opened "
            f"({plain(error, 100) or type(error).__name__}); get the safetensors version"
        ) from None
    return PickledFile(path=path, content=content, storages=storages)


def _of_archive(data: bytes, limit: int) -> tuple[object, dict[str, bytes]]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        entries = {entry.filename: entry for entry in archive.infolist()}
        if sum(entry.file_size for entry in entries.values()) > limit:
            raise ValueError("it unpacks to more than such a file has")
        name = next((name for name in entries if name.rpartition("/")[2] == "data.pkl"), None)
        if name is None:
            raise ValueError("a zip archive without tensors")
        if entries[name].file_size > _LARGEST_PICKLE:
            raise ValueError("its list of tensors is too long")
        folder = name.removesuffix("data.pkl")
        if f"{folder}byteorder" in entries and archive.read(f"{folder}byteorder") != b"little":
            raise ValueError("its numbers are in big-endian order")
        content, found = interpret(io.BytesIO(archive.read(name)))
        return content, {key: _checked(archive.read(f"{folder}data/{key}"), ref) for key, ref in found.items()}


def _of_pickles(data: bytes) -> tuple[object, dict[str, bytes]]:
    stream = io.BytesIO(data)
    if interpret(stream)[0] != _MAGIC or interpret(stream)[0] != _VERSION:
        raise ValueError("a pickle that torch did not write")
    system = interpret(stream)[0]
    if not isinstance(system, dict) or system.get("little_endian") is not True:
        raise ValueError("its numbers are in big-endian order")
    content, found = interpret(stream)
    keys = interpret(stream)[0]
    storages: dict[str, bytes] = {}
    for key in keys if isinstance(keys, list) else ():
        ref = found[key]
        stream.read(8)  # the number of elements, which the reference has, too
        storages[key] = _checked(stream.read(_bytes(ref)), ref)
    return content, storages


def _checked(data: bytes, ref: StorageRef) -> bytes:
    if len(data) != _bytes(ref):
        raise ValueError("incomplete: it ends before its tensors do")
    return data


def _bytes(ref: StorageRef) -> int:
    return ref.count * BITS[ref.dtype] // 8
