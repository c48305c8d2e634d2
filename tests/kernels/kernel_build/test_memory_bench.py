"""The benchmark on a simulated device, with a small model."""

import json

import pytest

from kernel_build import full_size_models
from kernel_build.memory_bench import JOBS, Job, measure
from kernel_build.memory_rows import row_of
from kernel_build.results import Place


@pytest.fixture
def folder(tmp_path, small_recipes):
    full_size_models.write_sdxl(tmp_path / "sdxl", "sdxl")
    return tmp_path


@pytest.mark.slow
def test_rows_of_ours_and_of_diffusers(folder):
    rows = list(measure(folder, "cpu", Job(names=("sdxl",), limits=(2**30,)), side=64, steps=2))
    assert [row["method"] for row in rows[:2]] == ["mezzotint"] * 2 and len(rows) == 5
    assert rows[0]["limit_bytes"] is None and rows[1]["within_limit"] and rows[1]["same_image"]
    assert all("requires a CUDA device" in row["problem"] for row in rows[2:])
    place = Place(gpu="Paper Card", commit="abc1234", date="2026-11-21", command="make gpu-check")
    told = [row_of(json.loads(json.dumps(row)), place) for row in rows]
    assert told[1].what == "SDXL base, 64x64, 1 GB: mezzotint" and "random weights" in told[1].figure


def test_quantized_jobs_have_names_of_their_own():
    assert [job.name for job in JOBS] == ["sdxl", "sdxl+sdxl-refiner", "sdxl int8", "sdxl int4"]
