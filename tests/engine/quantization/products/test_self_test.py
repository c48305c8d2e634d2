"""The self-test passes what is right, and finds what is wrong."""

import pytest
import torch
from fake_products import FakeProducts

from mezzotint.quantization.products.compiled import CompiledLinear
from mezzotint.quantization.products.self_test import CASES, run_self_test

CPU = torch.device("cpu")
NAMES = tuple(case.name for case in CASES["kernels"])


def run(library, dtype=torch.float16):
    return run_self_test(CompiledLinear(library), CPU, dtype)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_what_is_right_passes(dtype):
    found = run(FakeProducts(), dtype)
    assert (found.passed, found.unsupported, found.problem) == (NAMES, (), None)


@pytest.mark.parametrize(
    ("fault", "problem"),
    [("wrong", "error against torch"), ("nan", "contains NaN"), ("launch", "LaunchFailed"), ("bug", "x_stride is 3")],
)
def test_the_first_that_is_wrong_ends_it(fault, problem):
    found = run(FakeProducts(fault, after=2))
    assert found.passed == NAMES[:2]
    assert found.problem.startswith(f"the self-test failed at {NAMES[2]}: ") and problem in found.problem


def test_what_there_is_no_kernel_for_is_named():
    found = run(FakeProducts(depths={640}))
    able = {case.name for case in CASES["kernels"] if case.columns == 640}
    assert (set(found.passed), found.problem) == (able, None) and set(found.unsupported) == {*NAMES} - able
    none = run(FakeProducts("unsupported"))
    assert none.has_no_kernels and "no kernel for this device" in none.problem


def test_memory_that_ends_says_nothing_of_the_kernels():
    library = FakeProducts()

    def multiply(arguments, device, stream):
        raise torch.OutOfMemoryError("full")

    library.multiply = multiply
    with pytest.raises(torch.OutOfMemoryError):
        run(library)
