"""ctypes declarations of csrc/group_norm_api.h."""

import ctypes
from collections.abc import Sequence
from typing import ClassVar

from mezzotint_kernels.abi import Fields, Versioned

_Two = ctypes.c_int64 * 2


class GroupNormArgs(Versioned):
    """MztGroupNormArgs: addresses as integers (0 or None for null), strides in elements."""

    dtype: int
    silu: int
    batch: int
    pixels: int
    channels: int
    groups: int
    x: int | None
    out: int | None
    x_stride: Sequence[int]
    out_stride: Sequence[int]
    weight: int | None
    bias: int | None
    epsilon: float
    workspace: int | None
    workspace_bytes: int

    _fields_: ClassVar[Fields] = (
        ("size", ctypes.c_uint32),
        ("abi", ctypes.c_uint32),
        ("dtype", ctypes.c_uint32),
        ("silu", ctypes.c_uint32),
        ("batch", ctypes.c_int64),
        ("pixels", ctypes.c_int64),
        ("channels", ctypes.c_int64),
        ("groups", ctypes.c_int64),
        ("x", ctypes.c_void_p),
        ("out", ctypes.c_void_p),
        ("x_stride", _Two),
        ("out_stride", _Two),
        ("weight", ctypes.c_void_p),
        ("bias", ctypes.c_void_p),
        ("epsilon", ctypes.c_float),
        ("reserved", ctypes.c_uint32),
        ("workspace", ctypes.c_void_p),
        ("workspace_bytes", ctypes.c_int64),
    )
