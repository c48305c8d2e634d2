"""Rows of plans as rows of the table; and that the targets are what the benchmark measures."""

import pytest

from kernel_build.memory_bench import JOBS, SIDE
from kernel_build.memory_rows import row_of
from kernel_build.results import Place
from kernel_build.targets import MEMORY_TARGETS

PLACE = Place(gpu="Paper Card", commit="abc1234", date="2026-11-21", command="make gpu-check")
GB = 2**30


def measured(**changes):
    """As `kernel_build.memory_bench` prints it."""
    values = {
        "model": "sdxl+sdxl-refiner",
        "width": 1024,
        "height": 1024,
        "method": "mezzotint",
        "limit_bytes": 8 * GB,
        "predicted_bytes": 7 * GB,
        "measured_bytes": 6 * GB,
        "within_limit": True,
        "seconds": 4.5,
        "ratio": 1.05,
        "precision": "none",
        "recoveries": [],
        "problem": None,
        "weights": "random",
    }
    return values | changes


def test_a_row_tells_what_the_card_was_capped_to():
    row = row_of(measured(), PLACE)
    assert row.what == "SDXL base + refiner, 1024x1024, 8 GB: mezzotint"
    assert row.target.endswith("at most 1.10 times all resident")
    assert row.gpu == "Paper Card capped to 8 GB"
    assert row.figure == (
        "peak 6.00 GB, predicted 7.00 GB (-14 %), 4.50 s, 1.05 times all resident, none, random weights"
    )


def test_all_resident_is_the_whole_card():
    row = row_of(measured(limit_bytes=None, within_limit=None), PLACE)
    assert row.what.endswith("all resident: mezzotint") and row.gpu == "Paper Card" and row.target == ""


def test_what_went_wrong_is_in_the_row():
    assert "ABOVE the limit" in row_of(measured(within_limit=False), PLACE).figure
    nothing = {"measured_bytes": None, "predicted_bytes": None, "seconds": None, "ratio": None}
    row = row_of(measured(method="diffusers model offload", problem="CUDA out of memory", **nothing), PLACE)
    assert row.figure == "not measured (CUDA out of memory)" and row.target == ""


@pytest.mark.parametrize("target", MEMORY_TARGETS, ids=lambda target: target.what)
def test_every_target_is_measured(target):
    sizes = {"width": SIDE, "height": SIDE}
    rows = [row_of(measured(model=job.name, limit_bytes=limit, **sizes), PLACE) for job in JOBS for limit in job.limits]
    assert target.what in [row.what for row in rows]
