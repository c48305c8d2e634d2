"""Valid arguments of a quantization, for tests in which no kernel dereferences the pointers."""

from mezzotint_kernels.abi import Dtype, Preparation, QuantizeArgs


def quantize_args(**changes: float | None) -> QuantizeArgs:
    """100 rows of 128 columns, with every option; `changes` override fields."""
    columns = 128
    values: dict[str, float | None] = {
        "dtype": Dtype.FLOAT16,
        "preparation": Preparation.LAYER_NORM,
        "rows": 100,
        "columns": columns,
        "x": 0x10000,
        "x_stride": columns,
        "norm_weight": 0x20000,
        "norm_bias": 0x30000,
        "shift": 0x40000,
        "gain": 0x50000,
        "rows_per_batch": 50,
        "modulation_stride": columns,
        "epsilon": 1e-6,
        "group": 64,
        "values": 0x60000,
        "values_stride": columns,
        "scales": 0x70000,
        "bits": 8,
        "floats": 0,
    }
    return QuantizeArgs(**values | changes)
