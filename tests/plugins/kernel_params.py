"""Parameters of kernels: the structs of csrc/*/params.h, field by field."""

import ctypes
from typing import ClassVar

_POINTER, _LONG, _INT, _BOOL = ctypes.c_void_p, ctypes.c_int64, ctypes.c_int32, ctypes.c_bool

Fields = list[tuple[str, type]]


def _fields(**types: type) -> Fields:
    """`q__k=pointer` declares two fields."""
    return [(name, kind) for names, kind in types.items() for name in names.split("__")]


class Dropout(ctypes.Structure):
    """attention/params.h."""

    _fields_: ClassVar[Fields] = _fields(seed__offset=ctypes.c_uint64, kept=ctypes.c_uint32)


class BlockTable(ctypes.Structure):
    """attention/params.h."""

    _fields_: ClassVar[Fields] = _fields(
        row_ptr__col__tile__bits=_POINTER, stride_batch__stride_head=_LONG, log2_queries=_INT, order=_POINTER
    )


class Splits(ctypes.Structure):
    """attention/params.h."""

    _fields_: ClassVar[Fields] = _fields(count__blocks__chunks__all_rows=_INT, sums__rows=_POINTER)


class ForwardParams(ctypes.Structure):
    """attention/params.h."""

    _fields_: ClassVar[Fields] = _fields(
        q__k__v__out__lse=_POINTER,
        q_stride__k_stride__v_stride__out_stride=_LONG * 3,
        heads__heads_per_kv__nq__nk__tiles_per_block__q_tiles__slices=_INT,
        causal=_BOOL,
        scale__factor=ctypes.c_float,
        key_lengths__key_mask=_POINTER,
        key_mask_stride=_LONG,
        bias=_POINTER,
        bias_is_float__bias_in_pairs=_BOOL,
        bias_stride=_LONG * 4,
        dropout=Dropout,
        table=BlockTable,
        splits=Splits,
    )


class Int8Params(ctypes.Structure):
    """attention/int8/params.h."""

    _fields_: ClassVar[Fields] = _fields(
        forward=ForwardParams,
        head_dim__padded_dim__kv_heads__batch__q_rows__k_rows__chunks=_INT,
        q__k__v__q_scale__k_scale__v_scale__q_mean__k_sum__v_largest=_POINTER,
    )


class Tiles(ctypes.Structure):
    """tensor_map.h: what the emulator writes in the place of a map."""

    _fields_: ClassVar[Fields] = _fields(
        first=_POINTER,
        sizes=ctypes.c_uint64 * 4,
        strides=ctypes.c_uint64 * 3,
        columns__rows__is_bfloat16=ctypes.c_uint32,
    )


class TensorMap(ctypes.Structure):
    """What the stub of the driver writes in the place of a map (stub_cuda.cpp)."""

    _fields_: ClassVar[Fields] = _fields(
        first=_POINTER,
        sizes=ctypes.c_uint64 * 4,
        strides=ctypes.c_uint64 * 3,
        box__steps=ctypes.c_uint32 * 4,
        type__rank__interleave__exchanged__promoted__filled=_INT,
        _rest=ctypes.c_ubyte * 8,
    )


class HopperParams(ctypes.Structure):
    """attention/hopper/params.h."""

    _fields_: ClassVar[Fields] = _fields(
        q__k__v=TensorMap,
        forward=ForwardParams,
        tiles=ctypes.c_uint32,
        head_dim=_INT,
        _rest=ctypes.c_ubyte * (-(ctypes.sizeof(ForwardParams) + 8) % 64),  # maps are aligned to 64 bytes
    )


class BackwardParams(ctypes.Structure):
    """attention/backward/params.h."""

    _fields_: ClassVar[Fields] = _fields(
        q__k__v__out__out_gradient__lse__lse_gradient__dq__dk__dv=_POINTER,
        q_stride__k_stride__v_stride__out_stride=_LONG * 3,
        out_gradient_stride__dq_stride__dk_stride__dv_stride=_LONG * 3,
        heads__kv_heads__group__nq__nk__head_dim__padded_rows__key_tiles__splits__slices=_INT,
        causal__ordered=_BOOL,
        scale__factor=ctypes.c_float,
        key_lengths__key_mask=_POINTER,
        key_mask_stride=_LONG,
        rows__sums=_POINTER,
        sum_size=_LONG,
        dropout=Dropout,
        table=BlockTable,
    )


class LinearPart(ctypes.Structure):
    """gemm/params.h."""

    _fields_: ClassVar[Fields] = _fields(
        weight__weight_scales__bias__norm_weight=_POINTER, end=_INT, flags=ctypes.c_uint32
    )


class LinearParams(ctypes.Structure):
    """gemm/params.h."""

    _fields_: ClassVar[Fields] = _fields(
        x__weight__group_scales=_POINTER,
        x_stride__weight_stride__group_scales_stride=_LONG,
        x_scales__weight_scales=_POINTER,
        rows__in_bytes__out_columns=_INT,
        bias__branch_x__branch_up=_POINTER,
        branch_x_stride__branch_up_stride=_LONG,
        rank__rows_per_batch=_INT,
        gate__residual__out=_POINTER,
        gate_stride__residual_stride__out_stride=_LONG,
        row_tiles__column_tiles=_INT,
        x_group_scales__weight_group_scales=_POINTER,
        x_group_scales_stride__weight_group_scales_stride=_LONG,
        codebook=_POINTER,
        parts=LinearPart * 3,
        rotations=_POINTER,
        part_count__head_dim__rotation_rows=_INT,
        epsilon=ctypes.c_float,
        shares_weight_scale=_INT,
        activation=ctypes.c_uint32,
        splits__tiles_per_split=_INT,
        partial_sums=_POINTER,
        image_height__image_width__image_step__out_width__out_pixels=_INT,
    )


class LinearAttentionParams(ctypes.Structure):
    """linear_attention/params.h."""

    _fields_: ClassVar[Fields] = _fields(
        q__k__v__out=_POINTER,
        q_stride__k_stride__v_stride__out_stride=_LONG * 3,
        heads__kv_heads__group__nq__nk__features__head_dim__width=_INT,
        feature_tiles__column_tiles__query_tiles__splits__tiles_per_split=_INT,
        key_lengths__key_mask=_POINTER,
        key_mask_stride=_LONG,
        divided=_BOOL,
        least__epsilon=ctypes.c_float,
        sums=_POINTER,
        sum_size=_LONG,
        high__low__scales=_POINTER,
    )


class GroupNormParams(ctypes.Structure):
    """group_norm/params.h."""

    _fields_: ClassVar[Fields] = _fields(
        x__out=_POINTER,
        x_batch__x_pixel__out_batch__out_pixel=_LONG,
        weight__bias=_POINTER,
        epsilon=ctypes.c_float,
        pixels__channels__groups__group_channels__segments__segment_pixels__tiles=_INT,
        partial__affine=_POINTER,
    )


class QuantizeParams(ctypes.Structure):
    """quantize/params.h."""

    _fields_: ClassVar[Fields] = _fields(
        x=_POINTER,
        x_stride=_LONG,
        rows__columns__teams_per_row__rows_per_block__rows_per_65536_teams=_INT,
        norm_weight__norm_bias__shift__gain=_POINTER,
        modulation_stride=_LONG,
        rows_per_batch=_INT,
        epsilon=ctypes.c_float,
        group=ctypes.c_uint32,
        values=_POINTER,
        values_stride=_LONG,
        scales=_POINTER,
        scales_stride=_LONG,
        smooth=_POINTER,
        block_scales=_POINTER,
        block_scales_stride=_LONG,
    )


# The word in a kernel's name that determines its parameter struct.
_OF_KERNEL: dict[str, type[ctypes.Structure]] = {
    "BackwardParams": BackwardParams,
    "ForwardParams": ForwardParams,
    "HopperParams": HopperParams,
    "Int8Params": Int8Params,
    "GroupNormParams": GroupNormParams,
    "LinearAttentionParams": LinearAttentionParams,
    "LinearParams": LinearParams,
    "QuantizeParams": QuantizeParams,
}


def read_params(kernel: str, told: bytes) -> dict[str, object]:
    """Parse the parameter bytes of a kernel. Raises ValueError if their number is wrong."""
    (struct,) = (struct for word, struct in _OF_KERNEL.items() if f"::{word})" in kernel)
    if len(told) != ctypes.sizeof(struct):
        raise ValueError(f"{kernel} takes {len(told)} bytes, and {struct.__name__} has {ctypes.sizeof(struct)}")
    return values_of(struct.from_buffer_copy(told))


def values_of(struct: ctypes.Structure) -> dict[str, object]:
    """Return a struct's fields: arrays as tuples, null as None, nested structs as dicts."""
    return {name: _plain(getattr(struct, name)) for name, *_ in struct._fields_ if name != "_rest"}


def _plain(value: object) -> object:
    if isinstance(value, ctypes.Structure):
        return values_of(value)
    return tuple(map(_plain, value)) if isinstance(value, ctypes.Array) else value
