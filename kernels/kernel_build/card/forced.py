"""Run kernel instances by number (csrc/sweep.cpp): list them, and wrap the library so that it runs only one."""

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

from mezzotint_kernels import abi
from mezzotint_kernels.library import Library

KINDS = ("forward", "short keys", "int8", "dropout", "int8-all", "flash-fp16", "int8-fp8", "hopper")
DTYPES = ("float16", "bfloat16")


@dataclass(frozen=True, slots=True, kw_only=True)
class Instance:
    """A compiled kernel: attention, or a linear layer if `weight_bits` is set."""

    number: int
    kind: str
    head_dim: int
    dtype: str
    masked: bool
    weight_bits: int
    x_bits: int
    tile_m: int
    tile_n: int
    threads: int
    is_grouped: bool = False  # products with scales by group
    has_codebook: bool = False
    floats: bool = False  # of 8 bits, not integers
    is_gated: bool = False  # gated linear units
    is_split: bool = False  # the columns of x, where the library chooses so
    is_convolution: bool = False

    @property
    def is_of_one_layer(self) -> bool:
        """Whether it multiplies rows by one layer's weight, all columns at once."""
        return not (self.is_gated or self.is_split or self.is_convolution)

    @property
    def scheme(self) -> str:
        """The quantization scheme whose products it computes."""
        if self.floats:
            return "fp8"
        by_bits = {(8, 8): "int8", (4, 8): "int4-lowrank", (4, 4): "int4-rot"}[self.weight_bits, self.x_bits]
        return "svdquant" if self.is_grouped else "int4-codebook" if self.has_codebook else by_bits

    def takes_heads(self, head_dim: int) -> bool:
        """Whether it computes attention of that head size; Hopper's fill up to twice as many columns."""
        if self.kind != "hopper":
            return self.head_dim == head_dim
        return head_dim <= self.head_dim <= 2 * head_dim

    @property
    def name(self) -> str:
        """Name from the library's plans plus the thread count, which distinguishes instances of equal names."""
        tile = f"{self.tile_m}x{self.tile_n}"
        if self.weight_bits:
            bits = f"w{self.weight_bits}a{self.x_bits}"
            kind = (
                self.scheme + " gated" * self.is_gated + " split" * self.is_split + " convolution" * self.is_convolution
            )
            return f"linear {kind} {bits} {self.dtype} {tile}, {self.threads} threads"
        masked = " masked" if self.masked else ""
        return f"{self.kind} {self.dtype} d{self.head_dim} {tile}{masked}, {self.threads} threads"


class Instances(Protocol):
    """Kernels that can be run by number."""

    def attention(self) -> Sequence[Instance]:
        """Return the attention kernels."""

    def linear(self) -> Sequence[Instance]:
        """Return the linear kernels."""

    def run_attention(self, arguments: Any, number: int, device: int, stream: int) -> None:  # noqa: ANN401
        """Launch an instance. Raises KernelsError if it does not support these arguments."""

    def run_linear(self, arguments: Any, number: int, device: int, stream: int) -> None:  # noqa: ANN401
        """Launch an instance. Raises KernelsError if it does not support these arguments."""


class _Struct(ctypes.Structure):
    _fields_: ClassVar[abi.Fields] = [
        *((name, ctypes.c_int32) for name in ("kind", "head_dim", "dtype", "masked", "weight_bits", "x_bits")),
        *((name, ctypes.c_int32) for name in ("tile_m", "tile_n", "threads", "shared_bytes")),
        *((name, ctypes.c_int32) for name in ("is_grouped", "has_codebook", "floats", "is_gated", "is_split")),
        ("is_convolution", ctypes.c_int32),
    ]


class CompiledInstances:
    """The instances of a library built with MZT_SWEEP."""

    def __init__(self, library: Library) -> None:
        self._library, self._handle = library, ctypes.CDLL(str(library.path))
        for name, arguments in (("attention", abi.AttentionArgs), ("linear", abi.LinearArgs)):
            run = getattr(self._handle, f"mzt_sweep_{name}")
            run.argtypes = (ctypes.POINTER(arguments), ctypes.c_uint32, ctypes.c_int32, ctypes.c_void_p)

    def attention(self) -> list[Instance]:
        """Return the attention kernels."""
        return self._all(self._handle.mzt_sweep_attention_instance)

    def linear(self) -> list[Instance]:
        """Return the linear kernels."""
        return self._all(self._handle.mzt_sweep_linear_instance)

    def run_attention(self, arguments: Any, number: int, device: int, stream: int) -> None:  # noqa: ANN401
        """Launch an instance. Raises KernelsError if it does not support these arguments."""
        self._library.check(self._handle.mzt_sweep_attention(ctypes.byref(arguments), number, device, stream))

    def run_linear(self, arguments: Any, number: int, device: int, stream: int) -> None:  # noqa: ANN401
        """Launch an instance. Raises KernelsError if it does not support these arguments."""
        self._library.check(self._handle.mzt_sweep_linear(ctypes.byref(arguments), number, device, stream))

    def _all(self, find: Callable[[int, Any], int]) -> list[Instance]:
        struct = _Struct()
        found: list[Instance] = []
        while find(len(found), ctypes.byref(struct)):
            found.append(instance_of(struct, len(found)))
        return found


def instance_of(struct: Any, number: int, weight_bits: int = 0) -> Instance:  # noqa: ANN401
    """Convert the library's struct to an Instance."""
    return Instance(
        number=number,
        kind=KINDS[getattr(struct, "kind", 0)],
        head_dim=getattr(struct, "head_dim", 0),
        dtype=DTYPES[struct.dtype],
        masked=bool(getattr(struct, "masked", 0)),
        weight_bits=getattr(struct, "weight_bits", weight_bits),
        x_bits=getattr(struct, "x_bits", weight_bits and 8),
        tile_m=struct.tile_m,
        tile_n=struct.tile_n,
        threads=getattr(struct, "threads", 0),
        is_grouped=bool(getattr(struct, "is_grouped", 0)),
        has_codebook=bool(getattr(struct, "has_codebook", 0)),
        floats=bool(getattr(struct, "floats", 0)),
        is_gated=bool(getattr(struct, "is_gated", 0)),
        is_split=bool(getattr(struct, "is_split", 0)),
        is_convolution=bool(getattr(struct, "is_convolution", 0)),
    )
