"""ctypes declarations of csrc/block_scaled_api.h."""

import ctypes
from enum import IntEnum
from typing import ClassVar

from mezzotint_kernels.abi import Fields, LinearArgs, QuantizeArgs, Versioned


class BlockFormat(IntEnum):
    """MztBlockFormat: block-scaled floating-point numbers."""

    MXFP8 = 1
    NVFP4 = 2


class BlockScaledQuantizeArgs(Versioned):
    """MztBlockScaledQuantizeArgs: addresses as integers (0 or None for null), strides in bytes."""

    format: int
    rows: QuantizeArgs
    block_scales: int | None
    block_scales_stride: int

    _fields_: ClassVar[Fields] = (
        ("size", ctypes.c_uint32),
        ("abi", ctypes.c_uint32),
        ("format", ctypes.c_uint32),
        ("reserved", ctypes.c_uint32),
        ("rows", QuantizeArgs),
        ("block_scales", ctypes.c_void_p),
        ("block_scales_stride", ctypes.c_int64),
    )

    def __init__(self, *values: object, **fields: object) -> None:
        super().__init__(*values, **{"rows": QuantizeArgs(), **fields})


class BlockScaledLinearArgs(Versioned):
    """MztBlockScaledLinearArgs: addresses as integers (0 or None for null), strides in bytes."""

    format: int
    linear: LinearArgs
    x_block_scales: int | None
    weight_block_scales: int | None
    x_block_scales_stride: int
    weight_block_scales_stride: int
    weight_scale: int | None

    _fields_: ClassVar[Fields] = (
        ("size", ctypes.c_uint32),
        ("abi", ctypes.c_uint32),
        ("format", ctypes.c_uint32),
        ("reserved", ctypes.c_uint32),
        ("linear", LinearArgs),
        ("x_block_scales", ctypes.c_void_p),
        ("weight_block_scales", ctypes.c_void_p),
        ("x_block_scales_stride", ctypes.c_int64),
        ("weight_block_scales_stride", ctypes.c_int64),
        ("weight_scale", ctypes.c_void_p),
    )

    def __init__(self, *values: object, **fields: object) -> None:
        super().__init__(*values, **{"linear": LinearArgs(), **fields})
