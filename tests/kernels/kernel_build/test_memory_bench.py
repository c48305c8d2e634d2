"""The benchmark on a simulated device, with a small model."""

import json

import pytest

from kernel_build import full_size_models, memory_bench
from kernel_build.memory_bench import measure
from kernel_build.memory_rows import row_of
from kernel_build.results import Place


@pytest.fixture
def folder(tmp_path, small_recipes):
    full_size_models.write_sdxl(tmp_path / "sdxl", "sdxl")
    return tmp_path


@pytest.mark.slow
def test_rows_of_ours_and_of_diffusers(folder):
    rows = list(measure(folder, "cpu", [("sdxl",)], limits=[2**30], side=64, steps=2, repeats=1))
    assert [row["method"] for row in rows[:2]] == ["mezzotint"] * 2 and len(rows) == 5
    assert rows[0]["limit_bytes"] is None and rows[1]["within_limit"] and rows[1]["same_picture"]
    assert all("there is none" in row["problem"] for row in rows[2:])
    place = Place(gpu="Paper Card", commit="abc1234", date="2026-11-21", command="make gpu-check PART=memory")
    told = [row_of(json.loads(json.dumps(row)), place) for row in rows]
    assert told[1].what == "SDXL base, 64x64, 1 GB: mezzotint" and "random weights" in told[1].figure


def test_it_writes_the_models_that_it_measures(monkeypatch, capsys):
    written = []
    monkeypatch.setattr(memory_bench, "write_sdxl", lambda folder, name: written.append(folder.name) or 2**30)
    monkeypatch.setattr(memory_bench, "measure", lambda folder, device: [{"row": device}])
    assert memory_bench.main() == 0
    assert written == ["sdxl", "sdxl-refiner"]
    assert json.loads(capsys.readouterr().out) == {"row": "cuda:0"}
