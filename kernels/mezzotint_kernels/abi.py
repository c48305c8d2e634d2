"""ctypes declarations of the structs and constants of csrc/api.h and csrc/backward_api.h."""

import ctypes
from collections.abc import Sequence
from enum import IntEnum, IntFlag
from typing import ClassVar

ABI_VERSION = 1
TEXT_BYTES = 240
NAME_BYTES = 128

_Three = ctypes.c_int64 * 3
_Four = ctypes.c_int64 * 4

Fields = Sequence[tuple[str, type]]


class Status(IntEnum):
    """MztStatus: return value of a function."""

    OK = 0
    UNSUPPORTED = 1
    INVALID_ARGUMENT = 2
    ABI_MISMATCH = 3
    NO_DEVICE = 4
    DRIVER_TOO_OLD = 5
    WORKSPACE_TOO_SMALL = 6
    LAUNCH_FAILED = 7


class Dtype(IntEnum):
    """MztDtype: dtype of a tensor."""

    FLOAT16 = 0
    BFLOAT16 = 1
    FLOAT32 = 2


class AttentionFlags(IntFlag):
    """The bits of `AttentionArgs.flags` and `AttentionBackwardArgs.flags`."""

    CAUSAL = 1 << 0
    INT8_SCORES = 1 << 1  # forward only
    UNORDERED = 1 << 2  # backward only
    INT8_VALUES = 1 << 3  # forward only, with INT8_SCORES
    HALF_SUMS = 1 << 4  # forward only, without INT8_SCORES
    FP8_VALUES = 1 << 5  # forward only, with INT8_SCORES, without INT8_VALUES
    WITHOUT_HOPPER = 1 << 6  # forward only


class BlockTableFlags(IntFlag):
    """The bits of `BlockTableArgs.col` above the number of a block of keys."""

    PARTIAL = 1 << 30


class Preparation(IntEnum):
    """MztPreparation: what is applied to a row before it is rotated and quantized."""

    AS_IT_IS = 0
    LAYER_NORM = 1
    RMS_NORM = 2
    SILU = 3
    GELU_TANH = 4
    GEGLU = 5


class Activation(IntEnum):
    """MztActivation: what becomes of a product; the last two are of two parts, the second of which is the gate."""

    NO_ACTIVATION = 0
    ACTIVATE_GELU_TANH = 1
    GATED_GELU = 2
    GATED_SILU = 3


class Versioned(ctypes.Structure):
    """A struct that begins with its own size and the ABI version; the constructor fills in both."""

    size: int
    abi: int

    def __init__(self, *values: object, **fields: object) -> None:
        super().__init__(*values, **fields)
        self.size = ctypes.sizeof(self)
        self.abi = ABI_VERSION


class Dropout(ctypes.Structure):
    """MztDropout: weights that are kept, of 256 (0: no dropout), and which, by seed and offset."""

    seed: int
    offset: int
    kept: int

    _fields_: ClassVar[Fields] = (
        ("seed", ctypes.c_uint64),
        ("offset", ctypes.c_uint64),
        ("kept", ctypes.c_uint32),
        ("reserved", ctypes.c_uint32),
    )


_ATTENTION: Fields = (  # both passes begin with these
    ("size", ctypes.c_uint32),
    ("abi", ctypes.c_uint32),
    ("dtype", ctypes.c_uint32),
    ("flags", ctypes.c_uint32),
    ("batch", ctypes.c_int64),
    ("heads", ctypes.c_int64),
    ("kv_heads", ctypes.c_int64),
    ("nq", ctypes.c_int64),
    ("nk", ctypes.c_int64),
    ("head_dim", ctypes.c_int64),
    ("q", ctypes.c_void_p),
    ("k", ctypes.c_void_p),
    ("v", ctypes.c_void_p),
    ("out", ctypes.c_void_p),
)


class BlockTableArgs(Versioned):
    """MztBlockTable: addresses as integers (0 or None for null), strides in rows."""

    rows: int
    block_q: int
    block_k: int
    row_ptr: int | None
    col: int | None
    tile: int | None
    bits: int | None
    stride_batch: int
    stride_head: int
    order: int | None

    _fields_: ClassVar[Fields] = (
        ("size", ctypes.c_uint32),
        ("abi", ctypes.c_uint32),
        ("rows", ctypes.c_int32),
        ("block_q", ctypes.c_int32),
        ("block_k", ctypes.c_int32),
        ("reserved", ctypes.c_uint32),
        ("row_ptr", ctypes.c_void_p),
        ("col", ctypes.c_void_p),
        ("tile", ctypes.c_void_p),
        ("bits", ctypes.c_void_p),
        ("stride_batch", ctypes.c_int64),
        ("stride_head", ctypes.c_int64),
        ("order", ctypes.c_void_p),
    )


class AttentionArgs(Versioned):
    """MztAttentionArgs: addresses as integers (0 or None for null), strides in elements."""

    dtype: int
    flags: int
    batch: int
    heads: int
    kv_heads: int
    nq: int
    nk: int
    head_dim: int
    q: int | None
    k: int | None
    v: int | None
    out: int | None
    lse: int | None
    q_stride: Sequence[int]
    k_stride: Sequence[int]
    v_stride: Sequence[int]
    out_stride: Sequence[int]
    key_lengths: int | None
    key_mask: int | None
    key_mask_stride: int
    bias: int | None
    bias_dtype: int
    scale: float
    bias_stride: Sequence[int]
    workspace: int | None
    workspace_bytes: int
    dropout: Dropout
    table: int | None  # address of a BlockTableArgs, which must live as long as the call

    _fields_: ClassVar[Fields] = (
        *_ATTENTION,
        ("lse", ctypes.c_void_p),
        ("q_stride", _Three),
        ("k_stride", _Three),
        ("v_stride", _Three),
        ("out_stride", _Three),
        ("key_lengths", ctypes.c_void_p),
        ("key_mask", ctypes.c_void_p),
        ("key_mask_stride", ctypes.c_int64),
        ("bias", ctypes.c_void_p),
        ("bias_dtype", ctypes.c_uint32),
        ("scale", ctypes.c_float),
        ("bias_stride", _Four),
        ("workspace", ctypes.c_void_p),
        ("workspace_bytes", ctypes.c_int64),
        ("dropout", Dropout),
        ("table", ctypes.c_void_p),
    )


class AttentionBackwardArgs(Versioned):
    """MztAttentionBackwardArgs: addresses as integers (0 or None for null), strides in elements."""

    dtype: int
    flags: int
    batch: int
    heads: int
    kv_heads: int
    nq: int
    nk: int
    head_dim: int
    q: int | None
    k: int | None
    v: int | None
    out: int | None
    out_gradient: int | None
    lse: int | None
    lse_gradient: int | None
    dq: int | None
    dk: int | None
    dv: int | None
    q_stride: Sequence[int]
    k_stride: Sequence[int]
    v_stride: Sequence[int]
    out_stride: Sequence[int]
    out_gradient_stride: Sequence[int]
    dq_stride: Sequence[int]
    dk_stride: Sequence[int]
    dv_stride: Sequence[int]
    key_lengths: int | None
    key_mask: int | None
    key_mask_stride: int
    scale: float
    workspace: int | None
    workspace_bytes: int
    dropout: Dropout
    table: int | None  # address of a BlockTableArgs of keys, which must live as long as the call

    _fields_: ClassVar[Fields] = (
        *_ATTENTION,
        ("out_gradient", ctypes.c_void_p),
        ("lse", ctypes.c_void_p),
        ("lse_gradient", ctypes.c_void_p),
        ("dq", ctypes.c_void_p),
        ("dk", ctypes.c_void_p),
        ("dv", ctypes.c_void_p),
        ("q_stride", _Three),
        ("k_stride", _Three),
        ("v_stride", _Three),
        ("out_stride", _Three),
        ("out_gradient_stride", _Three),
        ("dq_stride", _Three),
        ("dk_stride", _Three),
        ("dv_stride", _Three),
        ("key_lengths", ctypes.c_void_p),
        ("key_mask", ctypes.c_void_p),
        ("key_mask_stride", ctypes.c_int64),
        ("scale", ctypes.c_float),
        ("workspace", ctypes.c_void_p),
        ("workspace_bytes", ctypes.c_int64),
        ("dropout", Dropout),
        ("table", ctypes.c_void_p),
    )


class AttentionPlanStruct(Versioned):
    """MztAttentionPlan."""

    supported: int
    kernel: int
    workspace_bytes: int
    text: bytes

    _fields_: ClassVar[Fields] = (
        ("size", ctypes.c_uint32),
        ("abi", ctypes.c_uint32),
        ("supported", ctypes.c_uint32),
        ("kernel", ctypes.c_uint32),
        ("workspace_bytes", ctypes.c_int64),
        ("text", ctypes.c_char * TEXT_BYTES),
    )


class QuantizeArgs(Versioned):
    """MztQuantizeArgs: addresses as integers (0 or None for null); strides in elements, those of integers in bytes."""

    dtype: int
    preparation: int
    rows: int
    columns: int
    x: int | None
    x_stride: int
    norm_weight: int | None
    norm_bias: int | None
    shift: int | None
    gain: int | None
    rows_per_batch: int
    modulation_stride: int
    epsilon: float
    group: int
    values: int | None
    values_stride: int
    scales: int | None
    bits: int
    scale_columns: int
    smooth: int | None
    scales_stride: int
    floats: int

    _fields_: ClassVar[Fields] = (
        ("size", ctypes.c_uint32),
        ("abi", ctypes.c_uint32),
        ("dtype", ctypes.c_uint32),
        ("preparation", ctypes.c_uint32),
        ("rows", ctypes.c_int64),
        ("columns", ctypes.c_int64),
        ("x", ctypes.c_void_p),
        ("x_stride", ctypes.c_int64),
        ("norm_weight", ctypes.c_void_p),
        ("norm_bias", ctypes.c_void_p),
        ("shift", ctypes.c_void_p),
        ("gain", ctypes.c_void_p),
        ("rows_per_batch", ctypes.c_int64),
        ("modulation_stride", ctypes.c_int64),
        ("epsilon", ctypes.c_float),
        ("group", ctypes.c_uint32),
        ("values", ctypes.c_void_p),
        ("values_stride", ctypes.c_int64),
        ("scales", ctypes.c_void_p),
        ("bits", ctypes.c_uint32),
        ("scale_columns", ctypes.c_uint32),
        ("smooth", ctypes.c_void_p),
        ("scales_stride", ctypes.c_int64),
        ("floats", ctypes.c_uint32),
    )


class PartFlags(IntFlag):
    """MztLinearPart.flags."""

    PART_NORM = 1 << 0
    PART_ROTATE = 1 << 1


class LinearPart(ctypes.Structure):
    """MztLinearPart: addresses as integers (0 or None for null)."""

    weight: int | None
    weight_scales: int | None
    bias: int | None
    norm_weight: int | None
    out_columns: int
    flags: int

    _fields_: ClassVar[Fields] = (
        *((name, ctypes.c_void_p) for name in ("weight", "weight_scales", "bias", "norm_weight")),
        ("out_columns", ctypes.c_int64),
        ("flags", ctypes.c_uint32),
        ("reserved", ctypes.c_uint32),
    )


class LinearArgs(Versioned):
    """MztLinearArgs: addresses as integers (0 or None for null); strides in elements, those of integers in bytes."""

    dtype: int
    weight_bits: int
    rows: int
    out_columns: int
    x: int | None
    x_stride: int
    x_scales: int | None
    weight: int | None
    weight_stride: int
    weight_scales: int | None
    group_scales: int | None
    group_scales_stride: int
    bias: int | None
    branch_x: int | None
    branch_up: int | None
    rank: int
    branch_x_stride: int
    branch_up_stride: int
    gate: int | None
    rows_per_batch: int
    gate_stride: int
    residual: int | None
    residual_stride: int
    out: int | None
    out_stride: int
    x_bits: int
    x_group_scales: int | None
    weight_group_scales: int | None
    x_group_scales_stride: int
    weight_group_scales_stride: int
    codebook: int | None
    part_count: int
    parts: "ctypes.Array[LinearPart]"
    head_dim: int
    epsilon: float
    rotations: int | None
    rotation_rows: int
    floats: int
    shares_weight_scale: int
    activation: int
    workspace: int | None
    workspace_bytes: int
    image_height: int
    image_width: int
    image_stride: int

    _fields_: ClassVar[Fields] = (
        ("size", ctypes.c_uint32),
        ("abi", ctypes.c_uint32),
        ("dtype", ctypes.c_uint32),
        ("weight_bits", ctypes.c_uint32),
        ("rows", ctypes.c_int64),
        ("in", ctypes.c_int64),
        ("out_columns", ctypes.c_int64),
        ("x", ctypes.c_void_p),
        ("x_stride", ctypes.c_int64),
        ("x_scales", ctypes.c_void_p),
        ("weight", ctypes.c_void_p),
        ("weight_stride", ctypes.c_int64),
        ("weight_scales", ctypes.c_void_p),
        ("group_scales", ctypes.c_void_p),
        ("group_scales_stride", ctypes.c_int64),
        ("bias", ctypes.c_void_p),
        ("branch_x", ctypes.c_void_p),
        ("branch_up", ctypes.c_void_p),
        ("rank", ctypes.c_int64),
        ("branch_x_stride", ctypes.c_int64),
        ("branch_up_stride", ctypes.c_int64),
        ("gate", ctypes.c_void_p),
        ("rows_per_batch", ctypes.c_int64),
        ("gate_stride", ctypes.c_int64),
        ("residual", ctypes.c_void_p),
        ("residual_stride", ctypes.c_int64),
        ("out", ctypes.c_void_p),
        ("out_stride", ctypes.c_int64),
        ("x_bits", ctypes.c_uint32),
        ("x_group_scales", ctypes.c_void_p),
        ("weight_group_scales", ctypes.c_void_p),
        ("x_group_scales_stride", ctypes.c_int64),
        ("weight_group_scales_stride", ctypes.c_int64),
        ("codebook", ctypes.c_void_p),
        ("part_count", ctypes.c_uint32),
        ("parts", LinearPart * 3),
        ("head_dim", ctypes.c_uint32),
        ("epsilon", ctypes.c_float),
        ("rotations", ctypes.c_void_p),
        ("rotation_rows", ctypes.c_int64),
        ("floats", ctypes.c_uint32),
        ("shares_weight_scale", ctypes.c_uint32),
        ("activation", ctypes.c_uint32),
        ("reserved", ctypes.c_uint32),
        ("workspace", ctypes.c_void_p),
        ("workspace_bytes", ctypes.c_int64),
        ("image_height", ctypes.c_int64),
        ("image_width", ctypes.c_int64),
        ("image_stride", ctypes.c_int64),
    )

    @property
    def in_columns(self) -> int:
        """The field `in`, whose name is a Python keyword."""
        return int(getattr(self, "in"))

    @in_columns.setter
    def in_columns(self, value: int) -> None:
        """Set the field `in`."""
        setattr(self, "in", value)


class DeviceStruct(Versioned):
    """MztDevice."""

    major: int
    minor: int
    multiprocessors: int
    shared_bytes: int
    name: bytes

    _fields_: ClassVar[Fields] = (
        ("size", ctypes.c_uint32),
        ("abi", ctypes.c_uint32),
        ("major", ctypes.c_int32),
        ("minor", ctypes.c_int32),
        ("multiprocessors", ctypes.c_int32),
        ("shared_bytes", ctypes.c_int32),
        ("name", ctypes.c_char * NAME_BYTES),
    )
