"""What of ours does not run fails; what others cannot do, and what we do not offer, does not."""

import pytest

from kernel_build.card import measured
from kernel_build.card.measured import row_of
from kernel_build.card.row_text import failure_of
from kernel_build.card.workers.attention import by_targets, with_targets
from mezzotint.benchmarks.attention_shapes import SHAPES
from mezzotint.benchmarks.products import ProductRow


def found(implementation, problem):
    sizes = {"rows": 1, "columns": 1, "outputs": 1, "dtype": "bfloat16", "device": "cpu", "torch": "2.11"}
    figures = dict.fromkeys(("milliseconds", "tops", "gigabytes", "ratio", "with_loras", "error"))
    return ProductRow(group="g", shape="s", implementation=implementation, problem=problem, **sizes, **figures)


@pytest.mark.parametrize(
    ("implementation", "problem", "outcome"),
    [
        ("mezzotint int8", None, "ok"),
        ("mezzotint int8", "the launch failed", "failed"),
        ("mezzotint int8", "no int8 kernel for head size 40 in bfloat16", "unavailable"),
        ("mezzotint int8-all", "no int8-all kernel for head size 40 in bfloat16", "unavailable"),
        ("mezzotint int8-fp8", "no int8-fp8 kernel on architecture 86, which has", "unavailable"),
        ("mezzotint x #3", "instance 3 of attention is not for these arguments on this device", "unavailable"),
        ("mezzotint flash", "no kernel for head size 40 in bfloat16", "failed"),
        ("sdpa cudnn", "no such backend", "unavailable"),
    ],
)
def test_an_outcome_is_what_it_means_for_us(implementation, problem, outcome):
    row = row_of(found(implementation, problem), False)
    assert (row.item, row.outcome, row.problem) == (f"s: {implementation}", outcome, problem)
    assert row_of(found(implementation, problem), True).measured["device"] == "stub"


@pytest.mark.parametrize(
    ("part", "item", "fails"),
    [
        ("times-attention", "s: sdpa cudnn", False),
        ("times-attention", "s: mezzotint flash", True),
        ("tests-linear", "test_gemm_gpu.py::test_it", True),
    ],
)
def test_a_peer_that_crashes_is_not_our_failure(part, item, fails):
    row = {"part": part, "item": item, "outcome": "crashed", "problem": "signal SIGSEGV", "measured": {}}
    assert bool(failure_of(row)) == fails


def test_what_the_library_refuses_is_said_in_its_own_words(root):
    sources = [(root / "kernels/csrc" / name).read_text("utf-8") for name in ("attention/choose.cpp", "sweep.cpp")]
    assert '"no %skernel for' in sources[0] and '"int8 "' in sources[0] and '"int8-all "' in sources[0]
    assert '"flash-fp16 "' in sources[0] and "no flash-fp16 kernel on" in sources[0]
    assert '"int8-fp8 "' in sources[0] and "no int8-fp8 kernel on" in sources[0]
    planned = ("no int8 kernel", "no int8-all kernel", "no int8-fp8 kernel", "no flash-fp16 kernel")
    assert all(words in planned or words in sources[1] for words in measured._REFUSED)


def test_shapes_that_targets_are_about_come_first():
    ordered = by_targets(SHAPES)
    assert set(ordered) == set(SHAPES) and 4 <= len(with_targets(SHAPES)) < len(SHAPES)
    assert ordered[: len(with_targets(SHAPES))] == with_targets(SHAPES)
