"""Valid arguments of block-scaled layers, for tests in which no kernel dereferences the pointers."""

from linear_arguments import linear_args

from mezzotint_kernels.abi import Dtype, LinearArgs, QuantizeArgs
from mezzotint_kernels.block_scaled_abi import BlockFormat, BlockScaledLinearArgs, BlockScaledQuantizeArgs

DEPTH = 256


def _bits_and_scales(format_: BlockFormat) -> tuple[int, int]:
    return (8, DEPTH // 32) if format_ is BlockFormat.MXFP8 else (4, DEPTH // 16)


def block_scaled_linear_args(format_: BlockFormat = BlockFormat.NVFP4, **changes: int | None) -> BlockScaledLinearArgs:
    """100 rows, 256 to 72 columns, with every option; `changes` override fields of both structs."""
    bits, scales = _bits_and_scales(format_)
    inner = {"x_bits": bits, "weight_bits": bits, "in_columns": DEPTH, "weight_scales": None, "group_scales": None}
    names = {"in_columns", *(name for name, *_ in LinearArgs._fields_)} - {"size", "abi", "reserved"}
    linear = linear_args(**inner, x_stride=DEPTH, weight_stride=DEPTH)
    values: dict[str, int | None] = {
        "format": format_,
        "x_block_scales": 0x50000,
        "x_block_scales_stride": scales,
        "weight_block_scales": 0x60000,
        "weight_block_scales_stride": scales,
        "weight_scale": 0x40000,
    }
    for name in changes.keys() & names:
        setattr(linear, name, changes[name])
    outer = {name: value for name, value in changes.items() if name not in names}
    return BlockScaledLinearArgs(linear=linear, **(values | outer))


def block_scaled_quantize_args(
    format_: BlockFormat = BlockFormat.NVFP4, **changes: int | None
) -> BlockScaledQuantizeArgs:
    """30 rows of 256 columns; `changes` override fields of both structs."""
    bits, scales = _bits_and_scales(format_)
    rows: dict[str, int | None] = {
        "dtype": Dtype.FLOAT16,
        "rows": 30,
        "columns": DEPTH,
        "x": 0x10000,
        "x_stride": DEPTH,
        "values": 0x20000,
        "values_stride": DEPTH,
        "scales": 0x40000 if format_ is BlockFormat.NVFP4 else None,
        "bits": bits,
    }
    names = {name for name, *_ in QuantizeArgs._fields_} - {"size", "abi"}
    inner = QuantizeArgs(**rows | {name: value for name, value in changes.items() if name in names})
    outer: dict[str, int | None] = {"format": format_, "block_scales": 0x30000, "block_scales_stride": scales}
    return BlockScaledQuantizeArgs(
        rows=inner, **outer | {name: value for name, value in changes.items() if name not in names}
    )
