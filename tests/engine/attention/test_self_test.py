"""The self-test passes what is right and finds what is wrong."""

import pytest
import torch
from fake_kernels import FakeKernels

from mezzotint.attention.compiled import CompiledAttention
from mezzotint.attention.self_test import CASES, run_flash_self_test, run_half_sums_self_test, run_self_test
from mezzotint.dispatch.library import Unsupported

CPU = torch.device("cpu")


def run(kernels, dtype=torch.bfloat16, int8=False, values=False, floats=False):
    options = {"int8": int8, "int8_values": values, "fp8_values": floats}
    return run_self_test(CompiledAttention(kernels), CPU, dtype, **options)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize(("int8", "values", "flags"), [(False, False, 0), (True, False, 2), (True, True, 10)])
def test_what_is_right_passes(dtype, int8, values, flags):
    kernels = FakeKernels()
    test = run(kernels, dtype, int8, values)
    assert test.problem is None
    assert test.passed == tuple(case.name for case in CASES)
    assert {asked.flags for asked in kernels.launches} == {flags}
    assert any(asked.key_lengths for asked in kernels.launches)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_sums_in_float16_pass_where_they_are_right(dtype):
    kernels = FakeKernels()
    test = run_half_sums_self_test(CompiledAttention(kernels), CPU, dtype)
    assert (test.problem, len(test.passed)) == (None, len(CASES))
    assert {asked.flags for asked in kernels.launches} == {16}
    wrong = run_half_sums_self_test(CompiledAttention(FakeKernels("wrong")), CPU, dtype)
    assert "error against the reference" in wrong.problem


def test_where_there_are_no_sums_in_float16_16_bits_are_tested():
    class FullRate(FakeKernels):
        def plan(self, arguments, device):
            if arguments.flags & 16:
                raise Unsupported("no flash-fp16 kernel on architecture 80")
            return super().plan(arguments, device)

    kernels = FullRate()
    test = run_half_sums_self_test(CompiledAttention(kernels), CPU, torch.float16)
    assert test.problem is None and test.by_others == test.passed
    assert {asked.flags for asked in kernels.launches} == {0}


def test_where_only_hoppers_own_kernels_are_wrong_the_others_are_used():
    kernels = FakeKernels("wrong", only=lambda asked: not asked.flags & 64)
    compiled = CompiledAttention(kernels)
    test = run_flash_self_test(compiled, CPU, torch.bfloat16)
    assert test.problem is None and test.passed == tuple(case.name for case in CASES)
    assert "error against the reference" in test.left_out
    q = torch.zeros(1, 1, 8, 64, dtype=torch.bfloat16)
    compiled(q, q, q)
    assert kernels.launches[0].flags == 0 and kernels.launches[-1].flags == 64


@pytest.mark.parametrize(("fault", "launches"), [(None, len(CASES)), ("wrong", 2)])
def test_what_other_kernels_do_not_mend_stays_wrong(fault, launches):
    kernels = FakeKernels(fault)
    test = run_flash_self_test(CompiledAttention(kernels), CPU, torch.bfloat16)
    assert (bool(test.problem), test.left_out, len(kernels.launches)) == (fault is not None, "", launches)


def test_where_there_are_no_8_bit_floats_8_bit_scores_are_tested():
    class Ampere(FakeKernels):
        def plan(self, arguments, device):
            if arguments.flags & 32:
                raise Unsupported("no int8-fp8 kernel on architecture 86")
            return super().plan(arguments, device)

    for kernels, flags in ((FakeKernels(), 34), (Ampere(), 2)):
        test = run(kernels, int8=True, floats=True)
        assert (test.problem, test.by_others) == (None, () if flags == 34 else test.passed)
        assert {asked.flags for asked in kernels.launches} == {flags}


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ("wrong", "error against the reference"),
        ("nan", "contains NaN"),
        ("launch", "LaunchFailed: the launch failed"),
        ("bug", "ValueError: q_stride"),
    ],
)
@pytest.mark.parametrize("int8", [False, True])
def test_what_is_wrong_is_found(fault, message, int8):
    test = run(FakeKernels(fault), int8=int8)
    assert message in test.problem and CASES[0].name in test.problem
    assert test.passed == ()


def test_a_fault_in_one_case_is_enough():
    test = run(FakeKernels("wrong", after=3))
    assert CASES[3].name in test.problem
    assert len(test.passed) == 3


def test_what_the_device_has_no_kernel_for_is_no_fault():
    test = run(FakeKernels(head_sizes={64, 72}))
    assert test.problem is None
    assert (len(test.passed), len(test.unsupported)) == (4, 4)


def test_what_other_kernels_did_wrong_did_not_pass():
    class Wrong(FakeKernels):
        def plan(self, arguments, device):
            if arguments.flags & 32 and arguments.head_dim != 64:
                raise Unsupported("no int8-fp8 kernel for these heads")
            return super().plan(arguments, device)

    test = run(Wrong("nan", after=3), int8=True, floats=True)
    assert (len(test.passed), test.by_others) == (3, (CASES[2].name,)) and CASES[3].name in test.problem


def test_a_full_device_is_no_fault_of_the_kernels():
    class Full(FakeKernels):
        def launch(self, arguments, device, stream):
            raise torch.OutOfMemoryError("CUDA out of memory")

    with pytest.raises(torch.OutOfMemoryError):
        run(Full())


def test_a_device_without_any_kernel_cannot_be_used():
    assert "no kernel for this device: no kernel for head_dim 64" in run(FakeKernels("unsupported")).problem
