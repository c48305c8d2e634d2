"""The quantization of rows from the PTX that nvcc makes of it: run, and with mistakes planted in its text."""

from functools import cache

import pytest
import torch
from emulated_quantize import Problem, judge
from ptx import cases
from ptx.edits import MISSED_BARRIERS, Edit, replaced, shuffled
from ptx.memory import MemoryFault
from ptx.program import PtxError, kernel_of
from ptx.quantize_launch import SOURCE, QuantizeParams, name_of, quantize
from ptx.structs import misread

from mezzotint_kernels.abi import Preparation

pytestmark = pytest.mark.requires_command("g++", "sudo apt-get install g++")

ROTATED = Problem(columns=512, group=64, pattern="integers")
WITH_ONE_NAN = Problem(rows=2, columns=512)
NORM = Problem(preparation=Preparation.LAYER_NORM, columns=512)
FLOATS = Problem(floats=True, columns=272)
SILU = Problem(preparation=Preparation.SILU)
ELSEWHERE = {  # Turing, which has no floats of 8 bits, and Blackwell, for which nvcc writes another text
    f"{name}-{architecture}": (problem, architecture)
    for name, problem in cases.QUANTIZE.items()
    for architecture in ("sm_75", "sm_120")
    if architecture != "sm_75" or not problem.floats
}
MULTIPLIED_AND_ADDED = r"(fma\.rn\.f32\s+%\w+, [^,]+, [^,]+), (%\w+);"

PLANTED = {
    "shuffles over another distance": (shuffled(1), ROTATED),
    "bytes picked otherwise": (Edit(r"(prmt\.b32\s+[^,]+), ([^,]+), ([^,]+),", r"\1, \3, \2,"), ROTATED),
    "smallest for largest": (replaced("max.NaN.f32", "min.f32"), ROTATED),
    "largest without NaN": (replaced("max.NaN.f32", "max.f32"), WITH_ONE_NAN),
    "no addend": (Edit(MULTIPLIED_AND_ADDED, r"\1, 0f00000000;"), ROTATED),
    "exponents for inverses": (replaced("rcp.approx.ftz.f32", "ex2.approx.ftz.f32"), SILU),
    "inverses for exponents": (replaced("ex2.approx.ftz.f32", "rcp.approx.ftz.f32"), SILU),
    "no root": (replaced("sqrt.rn.f32", "mov.f32"), NORM),
    "floats in another order": (Edit(r"(cvt\.rn\.satfinite\.e4m3x2\.f32 %\w+), (%\w+), (%\w+)", r"\1, \3, \2"), FLOATS),
    "a barrier that some threads miss": (MISSED_BARRIERS, NORM),
}


@cache
def program_of(ptx, problem, architecture=None, edit=lambda text: text):
    usual = "sm_89" if problem.floats else "sm_80"
    return kernel_of(edit(ptx(SOURCE, architecture or usual)), name_of(problem))


def is_right(problem, program):
    """Whether integers and scales are the reference's, or no numbers where a number of the row is none."""
    spoil = (lambda operands: operands.x[0, 5].fill_(float("nan"))) if problem is WITH_ONE_NAN else (lambda _: None)
    try:
        operands = quantize(program, problem, spoil)
    except (PtxError, MemoryFault):
        return False
    if problem is WITH_ONE_NAN:
        return torch.isnan(operands.scales).flatten().tolist() == [True, False]
    return judge(operands).right


@pytest.mark.slow_after(6)
@pytest.mark.parametrize("problem", cases.QUANTIZE.values(), ids=cases.QUANTIZE.keys())
def test_ptx_gives_what_the_reference_gives(ptx, problem):
    verdict = judge(quantize(program_of(ptx, problem), problem))
    assert verdict.scales <= 1, f"scales are {verdict.scales:.3g} times as far off as they may be"
    assert verdict.values <= 1, f"integers are {verdict.values:.3g} times as far off as they may be"


@pytest.mark.slow
@pytest.mark.parametrize(("problem", "architecture"), ELSEWHERE.values(), ids=ELSEWHERE.keys())
def test_the_same_elsewhere(ptx, problem, architecture):
    assert is_right(problem, program_of(ptx, problem, architecture))


def test_a_row_with_a_nan_shows_it(ptx):
    assert is_right(WITH_ONE_NAN, program_of(ptx, WITH_ONE_NAN))


def test_struct_is_the_one_that_the_kernel_reads(ptx):
    assert misread(program_of(ptx, NORM), QuantizeParams) == []


@pytest.mark.slow_after(3)
@pytest.mark.parametrize(("edit", "problem"), PLANTED.values(), ids=PLANTED.keys())
def test_planted_mistake_is_seen(ptx, edit, problem):
    assert not is_right(problem, program_of(ptx, problem, edit=edit))


@pytest.mark.slow
@pytest.mark.parametrize(
    "problem", dict.fromkeys(one for _, one in PLANTED.values()), ids=lambda each: str(each.preparation)
)
def test_without_a_mistake_nothing_is_seen(ptx, problem):
    assert is_right(problem, program_of(ptx, problem))
