"""Rows of the bench as rows of the table; and that the targets are shapes which the bench has."""

import pytest

from kernel_build.linear_rows import row_of
from kernel_build.results import Place
from kernel_build.targets import LINEAR_TARGETS
from mezzotint.benchmarks.product_shapes import SHAPES, LinearShape
from mezzotint.benchmarks.products import BLOCK_SCALED, OURS

PLACE = Place(gpu="Paper Card", commit="abc1234", date="2026-11-21", command="make gpu-check")


def measured(**changes):
    """As `mezzotint bench linear --json` prints it."""
    values = {
        "group": "sdxl",
        "shape": "SDXL, 4096x640 to 640",
        "rows": 4096,
        "columns": 640,
        "outputs": 640,
        "dtype": "bfloat16",
        "implementation": "mezzotint int8, 3 LoRAs",
        "milliseconds": 0.0123,
        "tops": 272.83,
        "gigabytes": None,
        "ratio": 1.312,
        "with_loras": 1.081,
        "error": 0.00661,
        "problem": None,
        "device": "Paper Card",
        "torch": "2.13.0",
    }
    return values | changes


def test_a_row_of_a_layer_tells_sizes_speed_and_error():
    row = row_of(measured(), PLACE)
    assert row.what == "SDXL, 4096x640 to 640: mezzotint int8, 3 LoRAs"
    assert row.target == "at most 1.10 times the time without LoRAs"
    assert row.figure == (
        "4096x640 to 640 bfloat16: 0.0123 ms, 272.8 TOP/s, 1.31 times torch linear, "
        "1.08 times the time without LoRAs, error 6.6e-03"
    )
    assert (row.gpu, row.commit, row.date, row.command) == (PLACE.gpu, PLACE.commit, PLACE.date, PLACE.command)


def test_a_row_of_rows_is_set_beside_a_copy():
    none = {"outputs": None, "tops": None, "with_loras": None, "error": None}
    row = row_of(measured(implementation="mezzotint rows", gigabytes=3210.0, ratio=0.847, **none), PLACE)
    assert row.figure == "4096x640 bfloat16: 0.0123 ms, 3210 GB/s, 85 % of a copy"
    assert (
        "of a copy" not in row_of(measured(implementation="copy", gigabytes=3790.0, ratio=None, **none), PLACE).figure
    )


def test_what_does_not_run_says_why():
    none = {"milliseconds": None, "tops": None, "ratio": None, "with_loras": None, "error": None}
    row = row_of(measured(implementation="torchao int8", problem="it is another version", **none), PLACE)
    assert row.figure == "4096x640 to 640 bfloat16: does not run (it is another version)"
    assert row.target == ""


@pytest.mark.parametrize("target", LINEAR_TARGETS, ids=lambda target: target.what)
def test_every_target_is_measured_by_the_bench(target):
    shape, _, implementation = target.what.rpartition(": ")
    kind = {each.name: isinstance(each, LinearShape) for each in SHAPES}
    assert implementation in ((*OURS, *BLOCK_SCALED) if kind[shape] else ("mezzotint rows",))
