"""Where weights come from: the host's RAM, or their file on disk. What lies there is never written to."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

from mezzotint.checkpoints.header import TensorSpec
from mezzotint.checkpoints.positioned import PositionedFile
from mezzotint.errors import ModelRefused

Take = Callable[[Tensor], Tensor]  # what is made of a file's tensor: rows of it, another order

_DTYPES = {
    "BOOL": torch.bool,
    "U8": torch.uint8,
    "I8": torch.int8,
    "I16": torch.int16,
    "I32": torch.int32,
    "I64": torch.int64,
    "F8_E4M3": torch.float8_e4m3fn,
    "F8_E5M2": torch.float8_e5m2,
    "F16": torch.float16,
    "BF16": torch.bfloat16,
    "F32": torch.float32,
    "F64": torch.float64,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """How a tensor lies on the device."""

    shape: tuple[int, ...]
    stride: tuple[int, ...]
    dtype: torch.dtype

    @property
    def bytes(self) -> int:
        """Bytes of RAM that it takes."""
        return torch.Size(self.shape).numel() * self.dtype.itemsize


class Source(Protocol):
    """One tensor, before it is on the device."""

    @property
    def form(self) -> Form:
        """The form that it has on the device."""

    @property
    def on_disk(self) -> bool:
        """Whether it takes a file to get it."""

    @property
    def at_once(self) -> bool:
        """Whether a card can fetch it by itself: it is in RAM, and that is page-locked."""

    def tensor(self) -> Tensor:
        """The tensor in RAM."""

    def read_into(self, target: Tensor) -> None:
        """Fill a tensor of this form, in RAM or on a device."""

    @property
    def in_parts(self) -> bool:
        """Whether its bytes can be had in parts, as they lie on the device."""

    def read_part(self, target: Tensor, start: int) -> None:
        """Fill `(n,)` bytes with its own from `start` on; only where it can be had in parts."""


@dataclass(frozen=True, slots=True, eq=False)
class HostTensor:
    """A tensor in RAM."""

    kept: Tensor
    pinned: bool = False

    @property
    def form(self) -> Form:
        """Its own, or without gaps where it has some."""
        return form_of(self.kept)

    @property
    def on_disk(self) -> bool:
        """False: the tensor is in RAM."""
        return False

    @property
    def at_once(self) -> bool:
        """Whether it is page-locked, and lies as it will on the device."""
        return self.pinned and self.in_parts

    @property
    def in_parts(self) -> bool:
        """Whether it lies as it will on the device, without gaps."""
        return self.kept.stride() == self.form.stride

    def tensor(self) -> Tensor:
        """The tensor itself."""
        return self.kept

    def read_into(self, target: Tensor) -> None:
        """Fill a tensor."""
        target.copy_(self.kept)

    def read_part(self, target: Tensor, start: int) -> None:
        """Fill `(n,)` bytes with its own from `start` on; other threads go on meanwhile."""
        target.copy_(flat_bytes(self.kept)[start : start + len(target)])


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DiskTensor:
    """A tensor of a file; `take` makes of it what the network wants, and `form.dtype` is what that is rounded to."""

    file: PositionedFile
    spec: TensorSpec
    form: Form
    take: Take | None = None

    @property
    def on_disk(self) -> bool:
        """True: the tensor is read from its file each time."""
        return True

    @property
    def at_once(self) -> bool:
        """False: it has to be read first."""
        return False

    def tensor(self) -> Tensor:
        """Read it into memory of its own."""
        target = torch.empty_strided(self.form.shape, self.form.stride, dtype=self.form.dtype)
        self.read_into(target)
        return target

    def read_into(self, target: Tensor) -> None:
        """Read it to its place, by way of a scratch only where it changes on the way."""
        if self.in_parts and target.is_contiguous() and target.device.type == "cpu":
            self._read(target)
            return
        stored = torch.empty(self.spec.shape, dtype=stored_dtype(self.spec))
        self._read(stored)
        taken = stored if self.take is None else self.take(stored)
        target.copy_(taken.reshape(target.shape))

    @property
    def in_parts(self) -> bool:
        """Whether it is wanted as it is stored."""
        return self.take is None and self.form.dtype == stored_dtype(self.spec)

    def read_part(self, target: Tensor, start: int) -> None:
        """Fill `(n,)` bytes with its own from `start` on; other threads go on meanwhile."""
        self.file.read_into(bytes_of(target), self.spec.start + start)

    def _read(self, target: Tensor) -> None:
        self.file.read_into(bytes_of(target), self.spec.start)


def disk_tensor(
    file: PositionedFile, spec: TensorSpec, *, shape: tuple[int, ...], dtype: torch.dtype, take: Take | None = None
) -> DiskTensor:
    """A file's tensor, as a network has it: contiguous, in its shape and format."""
    stored_dtype(spec)
    stride = torch.empty(shape, device="meta").stride()
    return DiskTensor(file=file, spec=spec, form=Form(shape=shape, stride=stride, dtype=dtype), take=take)


def stored_dtype(spec: TensorSpec) -> torch.dtype:
    """The format of a file's tensor; ModelRefused when torch has none such."""
    if spec.dtype not in _DTYPES:
        raise ModelRefused(f"tensors of format {spec.dtype} cannot be streamed from their file; convert the model")
    return _DTYPES[spec.dtype]


def form_of(tensor: Tensor) -> Form:
    """How a copy lies that has the tensor's order of dimensions, which decides between ways to compute."""
    stride = torch.empty_like(tensor, device="meta").stride()
    return Form(shape=tuple(tensor.shape), stride=tuple(stride), dtype=tensor.dtype)


def flat_bytes(tensor: Tensor) -> Tensor:
    """The bytes `(n,)` of a tensor without gaps, in whatever order of dimensions."""
    return tensor.as_strided((tensor.numel(),), (1,)).view(torch.uint8)


def locked_bytes(tensor: Tensor, size: int) -> Tensor:
    """So many bytes `(n,)` of a tensor's storage, from its first on."""
    start = tensor.storage_offset() * tensor.itemsize
    return torch.empty(0, dtype=torch.uint8).set_(tensor.untyped_storage(), start, (size,), (1,))


def bytes_of(tensor: Tensor) -> memoryview:
    """The bytes of a contiguous tensor in RAM, to be written to."""
    return tensor.view(-1).view(torch.uint8).numpy().data
