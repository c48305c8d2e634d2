"""Reads tensors from GGUF files one by one, dequantized by the gguf package."""

from collections.abc import Callable, Container, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from mezzotint.checkpoints.gguf_header import TYPES, GgufTensor, read_gguf_header
from mezzotint.checkpoints.plain_text import plain
from mezzotint.checkpoints.regular_file import open_regular, reason
from mezzotint.errors import Cancelled, ModelRefused, StorageError

if TYPE_CHECKING:
    import torch

_PIECE = 2**18  # bytes dequantized at a time, approximately
_PLAIN = {"F32": "float32", "F16": "float16", "BF16": "bfloat16"}
_BLOCKS = {name: (block, block_bytes) for name, block, block_bytes in TYPES.values()}


def read_gguf_tensors(
    path: Path,
    *,
    on_bytes: Callable[[int], None],
    cancelled: Callable[[], bool],
    names: Container[str] | None = None,
    packed: Container[str] = (),
) -> Iterator[tuple[str, "torch.Tensor"]]:
    """Yield the tensors in `names` (None: all) in file order, each with its own memory, on the CPU.

    Tensors in `packed` are returned as the bytes of their blocks, `(rows, bytes of a row)`, other quantized tensors in
    float32, and the rest in their own dtype. The header is checked before the first tensor is read. `on_bytes` is
    called with each tensor's size in the file once it is read; Cancelled is raised between
    tensors.
    """
    tensors = read_gguf_header(path).tensors
    with open_regular(path) as file:
        for name, tensor in tensors.items():
            if names is not None and name not in names:
                continue
            if cancelled():
                raise Cancelled(f"Stopped while {plain(path.name)} was read")
            try:
                read = _packed(file, tensor) if name in packed else _read(file, tensor)
            except EOFError:
                raise ModelRefused(f"{plain(path, 300)} changed meanwhile: it is shorter than it was") from None
            except OSError as error:
                raise StorageError(f"{plain(path, 300)} cannot be read: {reason(error)}") from None
            on_bytes(tensor.end - tensor.start)
            yield name, read


def _read(file: BinaryIO, tensor: GgufTensor) -> "torch.Tensor":
    import torch

    file.seek(tensor.start)
    if tensor.type in _PLAIN:
        whole = torch.empty(tensor.shape, dtype=getattr(torch, _PLAIN[tensor.type]))
        _fill(file, whole.view(-1).view(torch.uint8).numpy().data)
        return whole
    return _dequantized(file, tensor)


def _packed(file: BinaryIO, tensor: GgufTensor) -> "torch.Tensor":
    import torch

    rows = torch.empty((tensor.shape[0], (tensor.end - tensor.start) // tensor.shape[0]), dtype=torch.uint8)
    file.seek(tensor.start)
    _fill(file, rows.view(-1).numpy().data)
    return rows


def _dequantized(file: BinaryIO, tensor: GgufTensor) -> "torch.Tensor":
    import numpy as np
    import torch
    from gguf.constants import GGMLQuantizationType
    from gguf.quants import dequantize

    block, block_bytes = _BLOCKS[tensor.type]
    kind = GGMLQuantizationType[tensor.type]
    whole = torch.empty(tensor.shape, dtype=torch.float32)
    numbers = whole.view(-1).numpy()
    left, done = (tensor.end - tensor.start) // block_bytes, 0
    while left:
        blocks = min(left, _PIECE // block_bytes)
        piece = np.empty(blocks * block_bytes, dtype=np.uint8)
        _fill(file, piece.data)
        numbers[done : done + blocks * block] = dequantize(piece.reshape(1, -1), kind)[0]
        left, done = left - blocks, done + blocks * block
    return whole


def _fill(file: BinaryIO, memory: memoryview) -> None:
    """Fill `memory` from the file; raises EOFError if the file ends first."""
    if file.readinto(memory) < memory.nbytes:  # type: ignore[attr-defined]
        raise EOFError
