"""What `make gpu-check` can check: of each part the tests that need a card, and what measures it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from kernel_build import attention_rows, linear_rows, memory_rows, stream_rows
from kernel_build.results import Place, Row

RowOf: TypeAlias = Callable[[Mapping[str, Any], Place], Row]  # what a benchmark says of one measurement, as a row


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """Some of the kernels."""

    tests: tuple[str, ...]
    benchmark: str  # a module that prints a line of JSON for each measurement
    new_row_of: Callable[[], RowOf]


def _attention_rows() -> RowOf:
    plain_times: dict[str, float] = {}
    return lambda measured, place: attention_rows.row_of(measured, plain_times, place)


PARTS = {
    "kernels": Part(
        tests=("tests/kernels/csrc/test_attention_gpu.py", "tests/engine/attention/test_compiled_card.py"),
        benchmark="mezzotint.attention.benchmark",
        new_row_of=_attention_rows,
    ),
    "linear": Part(
        tests=(
            "tests/kernels/csrc/test_quantize_gpu.py",
            "tests/kernels/csrc/test_gemm_gpu.py",
            "tests/engine/quantization/test_compiled_card.py",
        ),
        benchmark="mezzotint.quantization.benchmark",
        new_row_of=lambda: linear_rows.row_of,
    ),
    "memory": Part(
        tests=("tests/engine/memory/test_device.py", "tests/engine/memory/test_rates.py"),
        benchmark="kernel_build.memory_bench",
        new_row_of=lambda: memory_rows.row_of,
    ),
    "streaming": Part(
        tests=("tests/engine/memory/test_device.py", "tests/engine/memory/test_rates.py"),
        benchmark="kernel_build.stream_bench",
        new_row_of=lambda: stream_rows.row_of,
    ),
}
