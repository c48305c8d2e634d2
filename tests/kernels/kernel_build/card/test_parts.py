"""Every part has a worker, tests that are there, and a name by which it is asked for."""

import importlib.util

import pytest

from kernel_build.card.machine import ROOT
from kernel_build.card.parts import PARTS, chosen, unknown
from kernel_build.card.worker import KINDS


@pytest.mark.parametrize("part", PARTS, ids=lambda part: part.name)
def test_a_part_is_done_by_a_worker(part):
    assert part.kind in KINDS
    assert importlib.util.find_spec(f"kernel_build.card.workers.{part.kind}")
    for word in part.words if part.kind == "tests" else ():
        assert "pytest.mark.gpu" in (ROOT / word).read_text("utf-8")


def test_every_test_of_the_kernels_that_needs_a_card_is_in_a_part():
    told = {word for part in PARTS for word in part.words}
    there = {path.relative_to(ROOT).as_posix() for path in (ROOT / "tests/kernels/csrc").glob("test_*_gpu.py")}
    assert there <= told


def test_all_that_is_right_or_wrong_comes_before_what_is_measured():
    groups = [part.name.partition("-")[0] for part in PARTS]
    assert groups == sorted(groups, key=["sanitizer", "tests", "times", "sweep", "jobs"].index)


def test_parts_are_named_by_their_names_or_a_word():
    assert chosen(()) == list(PARTS)
    assert [part.name for part in chosen(("times-attention", "memory"))] == ["times-attention", "jobs-memory"]
    assert [part.name for part in chosen(("linear",))] == ["tests-linear", "times-linear", "sweep-linear"]
    assert unknown(("linear", "gemm")) == ["gemm"]
