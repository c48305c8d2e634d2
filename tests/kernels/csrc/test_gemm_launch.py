"""What a product asks of CUDA: its launch as a stub of the runtime remembers it (tests/plugins/launch_build.py)."""

import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from launch_cases import DEVICE, LINEAR, STREAM, WELL, queue_linear
from launch_expected import linear as expected
from linear_arguments import linear_args
from stub_cuda import CARDS, differences

from mezzotint_kernels.abi import Dtype, Status

pytestmark = pytest.mark.requires_command("g++", "sudo apt-get install g++")

HALF = [case for case, made in LINEAR.items() if made().dtype == Dtype.FLOAT16]
FLOATS = [case for case, made in LINEAR.items() if made().floats]  # which not all multiply
CASES = [
    (case, card)
    for case in LINEAR
    for card in CARDS
    if card != 100  # where torch's products of 16 bits are faster
    and (card in (89, 120) if case in FLOATS else card >= 80 or case in HALF)
]


@pytest.mark.parametrize(("case", "card"), CASES)
def test_what_is_planned_is_launched(cuda, case, card):
    assert queue_linear(cuda, case, CARDS[card]) == []


@pytest.mark.parametrize("case", ["8 bits", "4 bits", "4 bits of both"])
def test_products_are_left_to_torch_where_those_of_16_bits_are_faster(cuda, case):
    cuda.insert(CARDS[100])
    status, said = cuda.linear(LINEAR[case](), 0, STREAM)
    assert (status, cuda.launches) == (Status.UNSUPPORTED, [])
    assert "-bit weights on architecture 100, where torch's of 16 bits are faster" in said


@pytest.mark.parametrize(("card", "kilobytes"), [(75, (16, 48)), (80, (30, 92))])
def test_shared_memory_is_that_of_the_architecture(cuda, card, kilobytes):
    """The table of kernels/README.md."""
    for case, wanted in zip(("4 bits", "4 bits, large"), kilobytes, strict=True):
        cuda.forget()
        assert queue_linear(cuda, case, CARDS[card]) == []
        assert cuda.launches[0].shared_bytes == wanted * 1024


def test_the_kernel_s_name_says_what_it_multiplies(cuda):
    for case, words in (("4 bits", "__half, 4"), ("8 bits", "__nv_bfloat16, 8")):
        cuda.forget()
        assert queue_linear(cuda, case) == []
        assert f"linear_product<{words}, mezzotint::gemm::Shape<" in cuda.launches[0].kernel


@pytest.mark.parametrize("changes", [{"rows": 0}, {"out_columns": 0}])
def test_where_there_is_nothing_to_compute_nothing_is_asked_of_the_card(cuda, changes):
    queue_linear(cuda, "8 bits")
    cuda.forget()
    assert cuda.linear(linear_args(**changes, weight_bits=8, dtype=Dtype.BFLOAT16), DEVICE, STREAM) == WELL
    assert cuda.calls == []


MANY = st.integers(1, 10**9) | st.sampled_from([2**20, 10**9])


@given(rows=MANY, eights=MANY, bits=st.sampled_from([4, 8]))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_size_overflows(cuda, rows, eights, bits):
    """The library is compiled so that an overflow would end the test run."""
    columns = min(8 * eights, 10**9)
    strides = dict.fromkeys(("gate_stride", "residual_stride", "out_stride"), columns)
    dtype = Dtype.FLOAT16 if bits == 4 else Dtype.BFLOAT16
    args = linear_args(dtype=dtype, weight_bits=bits, rows=rows, out_columns=columns, **strides)
    cuda.forget()
    status, said = cuda.linear(args, 0, STREAM)
    if status == Status.UNSUPPORTED:
        assert said == f"{rows} rows of {columns} columns are more than a card's grid of blocks takes"
    else:
        assert differences(cuda.launches, expected(cuda, args, CARDS[89], device=0, stream=STREAM, error=0)) == []


def every_problem():
    for dtype in (Dtype.FLOAT16, Dtype.BFLOAT16):
        for bits in (4, 8):
            for rows, columns in ((1, 8), (64, 64), (300, 1280), (2048, 3072), (4096, 12288), (70000, 640)):
                strides = dict.fromkeys(("gate_stride", "residual_stride", "out_stride"), columns)
                depth = {"in_columns": 1280, "x_stride": 1280, "weight_stride": 1280, "group_scales_stride": 20}
                yield linear_args(dtype=dtype, weight_bits=bits, rows=rows, out_columns=columns, **depth, **strides)


@pytest.mark.slow
@pytest.mark.timeout(1200)  # the first of them compiles all kernels
@pytest.mark.parametrize("card", [card for card in CARDS if card != 100])
def test_whatever_is_planned_is_launched(cuda, card):
    cuda.insert(CARDS[card])
    shapes = set()
    for args in every_problem():
        cuda.forget()
        if cuda.linear(args, 0, STREAM)[0] == Status.UNSUPPORTED:
            assert (card, args.dtype) == (75, Dtype.BFLOAT16)
            continue
        assert differences(cuda.launches, expected(cuda, args, CARDS[card], device=0, stream=STREAM, error=0)) == []
        shapes.update(re.findall(r"gemm::Shape<(.+?)>", cuda.launches[0].kernel))
    assert len(shapes) >= 2
