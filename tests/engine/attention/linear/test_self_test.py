"""The self-test of linear attention passes what is right and finds what is wrong."""

import pytest
import torch
from fake_linear_attention import FakeLinearAttention

from mezzotint.attention.linear.compiled import CompiledLinearAttention
from mezzotint.attention.linear.self_test import linear_cases, run_linear_self_test

CPU = torch.device("cpu")
NAMES = tuple(case.name for case in linear_cases(CPU))


def run(library, dtype=torch.bfloat16):
    return run_linear_self_test(CompiledLinearAttention(library), CPU, dtype)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_what_is_right_passes(dtype):
    library = FakeLinearAttention()
    test = run(library, dtype)
    assert (test.problem, test.passed) == (None, NAMES)
    assert {asked.map for asked in library.launches} == {0, 1, 2}
    assert {asked.divided for asked in library.launches} == {0, 1}
    assert any(asked.key_lengths for asked in library.launches)


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ("wrong", "error against the reference"),
        ("nan", "contains NaN"),
        ("launch", "LaunchFailed: the launch failed"),
    ],
)
def test_what_is_wrong_is_found(fault, message):
    test = run(FakeLinearAttention(fault, after=1))
    assert message in test.problem and NAMES[1] in test.problem
    assert test.passed == NAMES[:1]


def test_what_the_device_has_no_kernel_for_is_no_fault():
    assert run(FakeLinearAttention("unsupported")).has_no_kernels
