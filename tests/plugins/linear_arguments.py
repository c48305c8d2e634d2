"""Valid arguments of a linear layer, for tests in which no kernel dereferences the pointers."""

from mezzotint_kernels.abi import Dtype, LinearArgs


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
    }
    return LinearArgs(**values | changes)
