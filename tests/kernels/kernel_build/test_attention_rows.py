"""Rows of the bench as rows of the table; and that the targets are shapes which the bench has."""

import pytest

from kernel_build.attention_rows import row_of
from kernel_build.results import Place
from kernel_build.targets import ATTENTION_TARGETS, BACKWARD_TARGETS
from mezzotint.benchmarks import attention_backward
from mezzotint.benchmarks.attention import OURS
from mezzotint.benchmarks.attention_shapes import SHAPES

PLACE = Place(gpu="Paper Card", commit="abc1234", date="2026-11-21", command="make gpu-check PART=kernels")


def measured(**changes):
    """As `mezzotint bench attention --json` prints it."""
    values = {
        "group": "sdxl",
        "shape": "SDXL, 64x64",
        "batch": 2,
        "heads": 10,
        "kv_heads": 10,
        "nq": 4096,
        "nk": 4096,
        "head_dim": 64,
        "words": [],
        "dtype": "bfloat16",
        "implementation": "mezzotint flash",
        "milliseconds": 0.285,
        "tflops": 301.4159,
        "ratio": 1.0416,
        "peak_bytes": 21 << 20,
        "error": 0.00123,
        "problem": None,
        "device": "Paper Card",
        "torch": "2.13.0",
    }
    return values | changes


def test_a_row_tells_sizes_speed_ratio_memory_and_error():
    row = row_of(measured(), PLACE)
    assert row.what == "SDXL, 64x64: mezzotint flash"
    assert row.target == "at least 470 TFLOP/s"
    assert row.figure == (
        "b2 h10 4096x4096 d64 bfloat16: 0.2850 ms, 301.4 TFLOP/s, 1.04 times the best SDPA, "
        "21 MB beside the inputs, error 1.2e-03"
    )
    assert (row.gpu, row.commit, row.date, row.command) == (PLACE.gpu, PLACE.commit, PLACE.date, PLACE.command)


def test_int8_is_set_beside_our_own_kernel():
    row = row_of(measured(implementation="mezzotint int8", milliseconds=0.19, times_flash=1.5), PLACE)
    assert ", 1.50 times mezzotint flash" in row.figure
    assert "times mezzotint flash" not in row_of(measured(implementation="sdpa flash"), PLACE).figure


def test_what_does_not_run_says_why():
    none = {"milliseconds": None, "tflops": None, "ratio": None, "peak_bytes": None, "error": None}
    row = row_of(measured(implementation="sdpa cudnn", problem="no kernel for head_dim 512", **none), PLACE)
    assert row.figure.endswith("d64 bfloat16: does not run (no kernel for head_dim 512)")
    assert row.target == ""


@pytest.mark.parametrize("target", ATTENTION_TARGETS, ids=lambda target: target.what)
def test_every_target_is_measured_by_the_bench(target):
    shape, _, implementation = target.what.rpartition(": ")
    assert shape in {each.name for each in SHAPES}
    assert implementation in OURS


@pytest.mark.parametrize("target", BACKWARD_TARGETS, ids=lambda target: target.what)
def test_every_target_of_gradients_is_measured(target):
    shape, _, implementation = target.what.rpartition(": ")
    suffix = attention_backward.GRADIENTS.suffix
    assert shape in {each.name + suffix for each in attention_backward.gradient_shapes()}
    assert implementation == attention_backward.OURS
