"""The self-test of convolutions passes what is right, and finds what is wrong."""

import pytest
import torch
from fake_products import FakeProducts

from mezzotint.quantization.products.convolution_self_test import CASES, run_convolution_self_test
from mezzotint.quantization.products.convolutions import CompiledConvolution

NAMES = tuple(case.name for case in CASES)


def run(library, dtype=torch.float16):
    return run_convolution_self_test(CompiledConvolution(library), torch.device("cpu"), dtype)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_what_is_right_passes(dtype):
    found = run(FakeProducts(), dtype)
    assert (found.passed, found.unsupported, found.problem) == (NAMES, (), None)


@pytest.mark.parametrize(("fault", "problem"), [("wrong", "error against torch"), ("nan", "contains NaN")])
def test_the_first_that_is_wrong_ends_it(fault, problem):
    found = run(FakeProducts(fault, after=1))
    assert found.passed == NAMES[:1]
    assert found.problem.startswith(f"the self-test failed at {NAMES[1]}: ") and problem in found.problem
