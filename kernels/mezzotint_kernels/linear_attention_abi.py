"""ctypes declarations of csrc/linear_attention_api.h."""

import ctypes
from collections.abc import Sequence
from enum import IntEnum
from typing import ClassVar

from mezzotint_kernels.abi import Fields, Versioned

_Three = ctypes.c_int64 * 3


class FeatureMap(IntEnum):
    """MztFeatureMap: phi, applied to queries and keys."""

    IDENTITY = 0  # they are features already
    RELU = 1
    ELU_PLUS_ONE = 2


class LinearAttentionArgs(Versioned):
    """MztLinearAttentionArgs: addresses as integers (0 or None for null), strides in elements."""

    dtype: int
    map: int
    batch: int
    heads: int
    kv_heads: int
    nq: int
    nk: int
    features: int
    head_dim: int
    q: int | None
    k: int | None
    v: int | None
    out: int | None
    q_stride: Sequence[int]
    k_stride: Sequence[int]
    v_stride: Sequence[int]
    out_stride: Sequence[int]
    key_lengths: int | None
    key_mask: int | None
    key_mask_stride: int
    divided: int
    least: float
    epsilon: float
    workspace: int | None
    workspace_bytes: int

    _fields_: ClassVar[Fields] = (
        ("size", ctypes.c_uint32),
        ("abi", ctypes.c_uint32),
        ("dtype", ctypes.c_uint32),
        ("map", ctypes.c_uint32),
        ("batch", ctypes.c_int64),
        ("heads", ctypes.c_int64),
        ("kv_heads", ctypes.c_int64),
        ("nq", ctypes.c_int64),
        ("nk", ctypes.c_int64),
        ("features", ctypes.c_int64),
        ("head_dim", ctypes.c_int64),
        ("q", ctypes.c_void_p),
        ("k", ctypes.c_void_p),
        ("v", ctypes.c_void_p),
        ("out", ctypes.c_void_p),
        ("q_stride", _Three),
        ("k_stride", _Three),
        ("v_stride", _Three),
        ("out_stride", _Three),
        ("key_lengths", ctypes.c_void_p),
        ("key_mask", ctypes.c_void_p),
        ("key_mask_stride", ctypes.c_int64),
        ("divided", ctypes.c_uint32),
        ("least", ctypes.c_float),
        ("epsilon", ctypes.c_float),
        ("reserved", ctypes.c_uint32),
        ("workspace", ctypes.c_void_p),
        ("workspace_bytes", ctypes.c_int64),
    )
