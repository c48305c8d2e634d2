"""Valid arguments of a linear layer, for tests in which no kernel dereferences the pointers."""

from typing import Any

from mezzotint_kernels.abi import Activation, Dtype, LinearArgs, LinearPart, PartFlags


def linear_args(**changes: int | None) -> LinearArgs:
    """100 rows, 128 to 72 columns, with every option; `changes` override fields."""
    rows, depth, columns, rank = 100, 128, 72, 32
    values: dict[str, int | None] = {
        "dtype": Dtype.FLOAT16,
        "weight_bits": 8,
        "rows": rows,
        "in_columns": depth,
        "out_columns": columns,
        "x": 0x10000,
        "x_stride": depth,
        "x_scales": 0x20000,
        "weight": 0x30000,
        "weight_stride": depth,
        "weight_scales": 0x40000,
        "group_scales": 0x50000,
        "group_scales_stride": depth // 64,
        "bias": 0x60000,
        "branch_x": 0x70000,
        "branch_up": 0x80000,
        "rank": rank,
        "branch_x_stride": rank,
        "branch_up_stride": rank,
        "gate": 0x90000,
        "rows_per_batch": 50,
        "gate_stride": columns,
        "residual": 0xA0000,
        "residual_stride": columns,
        "out": 0xB0000,
        "out_stride": columns,
        "x_bits": 8,
        "floats": 0,
        "shares_weight_scale": 0,
        "activation": 0,
        "reserved": 0,
        "workspace": None,
        "workspace_bytes": 0,
        "image_height": 0,
        "image_width": 0,
        "image_stride": 0,
    }
    return LinearArgs(**values | changes)


def convolution_args(**changes: int | None) -> LinearArgs:
    """A convolution of 128 to 72 channels of two images of 8 x 12 pixels; `changes` override fields."""
    rows, depth = 2 * 8 * 12, 128
    images = {"image_height": 8, "image_width": 12, "image_stride": 1, "rows": rows, "weight_stride": 9 * depth}
    alone = {"rank": 0, "branch_x": None, "branch_up": None, "rows_per_batch": 8 * 12}
    return linear_args(**images | alone | changes)


def joined_args(part: dict[str, Any] | None = None, **changes: Any) -> LinearArgs:
    """Queries, keys and values of heads of 64; `part` overrides fields of the keys, `changes` those of all."""
    heads = {"flags": PartFlags.PART_NORM | PartFlags.PART_ROTATE, "norm_weight": 0xC0000}
    parts = [
        {"weight": 0x30000, "weight_scales": 0x40000, "bias": 0x60000, "out_columns": 128, **heads},
        {"weight": 0x130000, "weight_scales": 0x140000, "out_columns": 256, **heads} | (part or {}),
        {"weight": 0x230000, "weight_scales": 0x240000, "bias": 0x260000, "out_columns": 128},
    ]
    alone = dict.fromkeys(("weight", "weight_scales", "bias", "branch_x", "branch_up", "gate", "residual"))
    joint = {"part_count": 3, "head_dim": 64, "epsilon": 1e-6, "rotations": 0xD0000, "rotation_rows": 50}
    sizes = {"out_columns": 512, "out_stride": 512, "rank": 0, "rows_per_batch": 0}
    made = linear_args(**alone | joint | sizes | changes)
    for number, each in enumerate(parts):
        made.parts[number] = LinearPart(**each)
    return made


def gated_args(part: dict[str, Any] | None = None, **changes: Any) -> LinearArgs:
    """A gated linear unit of 72 columns; `part` overrides fields of its gate, `changes` those of both."""
    alone = dict.fromkeys(("weight", "weight_scales", "bias", "branch_x", "branch_up", "gate", "residual"))
    made = linear_args(**alone | {"rank": 0, "part_count": 2, "activation": Activation.GATED_SILU} | changes)
    value = {"weight": 0x30000, "weight_scales": 0x40000, "bias": 0x60000, "out_columns": 72}
    made.parts[0] = LinearPart(**value)
    made.parts[1] = LinearPart(**value | {"weight": 0x130000, "bias": 0} | (part or {}))
    return made
