"""Sources of weights: RAM or files on disk. Sources are never modified."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

from mezzotint.checkpoints.header import TensorSpec
from mezzotint.checkpoints.positioned import PositionedFile
from mezzotint.errors import ModelRefused

Convert = Callable[[Tensor], Tensor]  # conversion of a file's tensor, such as selecting rows or permuting

_DTYPES = {
    "BOOL": torch.bool,
    "U8": torch.uint8,
    "I8": torch.int8,
    "I16": torch.int16,
    "I32": torch.int32,
    "I64": torch.int64,
    "F8_E4M3": torch.float8_e4m3fn,
    "F8_E5M2": torch.float8_e5m2,
    "F8_E8M0": torch.float8_e8m0fnu,
    "F16": torch.float16,
    "BF16": torch.bfloat16,
    "F32": torch.float32,
    "F64": torch.float64,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class TensorLayout:
    """Memory layout of a tensor on the device."""

    shape: tuple[int, ...]
    stride: tuple[int, ...]
    dtype: torch.dtype

    @property
    def bytes(self) -> int:
        """Size of the tensor's data."""
        return torch.Size(self.shape).numel() * self.dtype.itemsize

    @property
    def is_row_major(self) -> bool:
        """Whether the numbers are in memory in the order of the dimensions, as in files."""
        step = 1
        for size, stride in zip(reversed(self.shape), reversed(self.stride), strict=True):
            if size != 1 and stride != step:
                return False
            step *= size
        return True


class Source(Protocol):
    """Source of one tensor for the device."""

    @property
    def layout(self) -> TensorLayout:
        """The layout of the tensor on the device."""

    @property
    def on_disk(self) -> bool:
        """Whether it is read from a file."""

    @property
    def supports_async_copy(self) -> bool:
        """Whether a GPU can copy it asynchronously, because it is in page-locked RAM."""

    def tensor(self) -> Tensor:
        """Return the tensor in RAM."""

    def read_into(self, target: Tensor) -> None:
        """Fill a tensor of this layout in RAM or on a device."""

    @property
    def supports_partial_reads(self) -> bool:
        """Whether byte ranges can be read directly, in the device's layout."""

    def read_part(self, target: Tensor, start: int) -> None:
        """Fill `(n,)` bytes from offset `start`; requires `supports_partial_reads`."""


@dataclass(frozen=True, slots=True, eq=False)
class HostTensor:
    """A tensor in RAM."""

    kept: Tensor
    pinned: bool = False

    @property
    def layout(self) -> TensorLayout:
        """The tensor's own layout, without gaps."""
        return tensor_layout(self.kept)

    @property
    def on_disk(self) -> bool:
        """False, because the tensor is in RAM."""
        return False

    @property
    def supports_async_copy(self) -> bool:
        """Whether it is page-locked and has the device's layout."""
        return self.pinned and self.supports_partial_reads

    @property
    def supports_partial_reads(self) -> bool:
        """Whether it has the device's layout, without gaps."""
        return self.kept.stride() == self.layout.stride

    def tensor(self) -> Tensor:
        """Return the tensor itself."""
        return self.kept

    def read_into(self, target: Tensor) -> None:
        """Copy the tensor to `target`."""
        target.copy_(self.kept)

    def read_part(self, target: Tensor, start: int) -> None:
        """Fill `(n,)` bytes from offset `start`; releases the GIL."""
        target.copy_(flat_bytes(self.kept)[start : start + len(target)])


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DiskTensor:
    """A tensor in a file; `convert` makes of it what the network needs, which is then cast to `layout.dtype`."""

    file: PositionedFile
    spec: TensorSpec
    layout: TensorLayout
    convert: Convert | None = None

    @property
    def on_disk(self) -> bool:
        """True, because the tensor is read from its file each time."""
        return True

    @property
    def supports_async_copy(self) -> bool:
        """False, because it has to be read first."""
        return False

    def tensor(self) -> Tensor:
        """Read the tensor into new memory."""
        target = torch.empty_strided(self.layout.shape, self.layout.stride, dtype=self.layout.dtype)
        self.read_into(target)
        return target

    def read_into(self, target: Tensor) -> None:
        """Read the tensor into `target`, through a temporary only if it has to be converted or moved to a device."""
        if self.supports_partial_reads and target.is_contiguous() and target.device.type == "cpu":
            self._read(target)
            return
        stored = torch.empty(self.spec.shape, dtype=stored_dtype(self.spec))
        self._read(stored)
        converted = stored if self.convert is None else self.convert(stored)
        target.copy_(converted.reshape(target.shape))

    @property
    def supports_partial_reads(self) -> bool:
        """Whether it is used exactly as stored."""
        return self.convert is None and self.layout.dtype == stored_dtype(self.spec) and self.layout.is_row_major

    def read_part(self, target: Tensor, start: int) -> None:
        """Fill `(n,)` bytes from offset `start`; releases the GIL."""
        self.file.read_into(bytes_of(target), self.spec.start + start)

    def _read(self, target: Tensor) -> None:
        self.file.read_into(bytes_of(target), self.spec.start)


def disk_tensor(
    file: PositionedFile,
    spec: TensorSpec,
    *,
    shape: tuple[int, ...],
    dtype: torch.dtype,
    convert: Convert | None = None,
) -> DiskTensor:
    """Return a file's tensor as a source for a network: contiguous, in the network's shape and dtype."""
    stored_dtype(spec)
    stride = torch.empty(shape, device="meta").stride()
    return DiskTensor(
        file=file, spec=spec, layout=TensorLayout(shape=shape, stride=stride, dtype=dtype), convert=convert
    )


def stored_dtype(spec: TensorSpec) -> torch.dtype:
    """Return the dtype of a file's tensor; raises ModelRefused if torch has none."""
    if spec.dtype not in _DTYPES:
        raise ModelRefused(f"tensors of dtype {spec.dtype} cannot be streamed from their file; convert the model")
    return _DTYPES[spec.dtype]


def tensor_layout(tensor: Tensor) -> TensorLayout:
    """Return the layout of a dense copy in the tensor's dimension order, on which the choice of kernels depends."""
    stride = torch.empty_like(tensor, device="meta").stride()
    return TensorLayout(shape=tuple(tensor.shape), stride=tuple(stride), dtype=tensor.dtype)


def flat_bytes(tensor: Tensor) -> Tensor:
    """View a tensor without gaps, in any dimension order, as bytes `(n,)`."""
    return tensor.as_strided((tensor.numel(),), (1,)).view(torch.uint8)


def locked_bytes(tensor: Tensor, size: int) -> Tensor:
    """View `size` bytes `(n,)` of a tensor's storage, starting at its first element."""
    start = tensor.storage_offset() * tensor.itemsize
    return torch.empty(0, dtype=torch.uint8).set_(tensor.untyped_storage(), start, (size,), (1,))


def bytes_of(tensor: Tensor) -> memoryview:
    """Writable view of the bytes of a contiguous tensor in RAM."""
    return tensor.view(-1).view(torch.uint8).numpy().data
