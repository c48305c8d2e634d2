"""The self-test of GroupNorm passes what is right and finds what is wrong."""

import pytest
import torch
from fake_group_norm import FakeGroupNorm

from mezzotint.normalization.compiled import CompiledGroupNorm
from mezzotint.normalization.self_test import CASES, run_group_norm_self_test

NAMES = tuple(case.name for case in CASES)


def run(library, dtype=torch.bfloat16):
    return run_group_norm_self_test(CompiledGroupNorm(library), torch.device("cpu"), dtype)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_what_is_right_passes(dtype):
    library = FakeGroupNorm()
    test = run(library, dtype)
    assert (test.problem, test.passed) == (None, NAMES)
    assert {asked.silu for asked in library.launches} == {0, 1}
    assert {asked.batch for asked in library.launches} == {1, 2}


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ("wrong", "error against the reference"),
        ("nan", "contains NaN"),
        ("launch", "LaunchFailed: the launch failed"),
    ],
)
def test_what_is_wrong_is_found(fault, message):
    test = run(FakeGroupNorm(fault, after=1))
    assert message in test.problem and NAMES[1] in test.problem
    assert test.passed == NAMES[:1]


def test_what_the_device_has_no_kernel_for_is_no_fault():
    assert run(FakeGroupNorm("unsupported")).has_no_kernels
