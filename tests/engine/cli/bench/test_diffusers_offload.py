"""Rows of diffusers' own ways: why there are none, and what is measured where there are."""

import contextlib

import pytest

from mezzotint.cli.bench import diffusers_offload
from mezzotint.cli.bench.diffusers_offload import METHODS, offload_cells
from mezzotint.cli.bench.memory_cells import BenchCase, BenchSettings

ONE = BenchCase(models=("base",), width=64, height=64)


def how(**changes):
    return BenchSettings(
        **{"steps": 2, "repeats": 1, "device": "cuda:0", "limits": (800, 400), "plenty": None} | changes
    )


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "model_index.json").write_text("{}")
    return tmp_path


@pytest.mark.parametrize(
    ("subject", "changes", "missing", "said"),
    [
        (ONE, {"device": "cpu"}, False, "requires a CUDA device"),
        (BenchCase(models=("base", "refiner"), width=64, height=64), {}, False, "a pipeline has one model"),
        (ONE, {}, True, "not a diffusers folder"),
    ],
)
def test_what_is_skipped_says_why(folder, subject, changes, missing, said):
    path = folder / "elsewhere" if missing else folder
    cells = list(offload_cells(subject, path, how(**changes), 1.0))
    assert [cell.method for cell in cells] == list(METHODS)
    assert all(said in cell.problem and cell.measured_bytes is None for cell in cells)


def test_each_way_is_measured_on_the_smallest_card(folder, monkeypatch):
    held = []

    def measure(method, *_):
        if method == METHODS[1]:
            raise RuntimeError("CUDA out of memory")
        return 500, 3.0

    def ballast(left):
        held.append(left)
        return contextlib.nullcontext()

    monkeypatch.setattr(diffusers_offload, "_measure", measure)
    model, sequential, group = offload_cells(ONE, folder, how(ballast=ballast), 2.0)
    assert held == [400] * 3
    assert (model.measured_bytes, model.seconds, model.ratio, model.within_limit) == (500, 3.0, 1.5, False)
    assert sequential.problem == "CUDA out of memory" and group.problem is None
