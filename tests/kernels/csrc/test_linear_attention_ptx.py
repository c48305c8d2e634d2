"""Linear attention from the PTX that nvcc makes of it: run, and with mistakes planted in its text."""

from functools import cache

import pytest
import torch
from emulated_linear_attention import LinearAttentionEmulator, Problem
from kernel_params import LinearAttentionParams
from ptx import cases
from ptx.edits import MISSED_BARRIERS, Edit, replaced, shuffled
from ptx.linear_attention_launch import attend_linearly, linear_attention_programs
from ptx.memory import MemoryFault
from ptx.program import PtxError
from ptx.structs import misread

from kernel_build.sources import ARCHITECTURES
from mezzotint_kernels.linear_attention_abi import FeatureMap

pytestmark = pytest.mark.requires_command("g++", "sudo apt-get install g++")

ONE = {"heads": 1, "kv_heads": 1, "nq": 20}
RELU = Problem(**ONE, nk=130, splits=2)
ELU = Problem(**ONE, map=FeatureMap.ELU_PLUS_ONE)

NEWER = [each for each in ARCHITECTURES if each not in ("sm_75", "sm_80")]

PLANTED = {
    "totals from another lane": (shuffled(1), RELU),
    "matrices of keys as they lie": (replaced("x4.trans.shared", "x4.shared"), RELU),
    "inverses for exponents": (replaced("ex2.approx.ftz.f32", "rcp.approx.ftz.f32"), ELU),
    "smallest for largest": (replaced("max.NaN.f32", "min.f32"), Problem(**ONE, values_by=1e6)),
    "divisors for their inverses": (replaced("rcp.rn.f32", "mov.f32"), RELU),
    "the newest copy is not waited for": (Edit(r"cp\.async\.wait_group 0;", "cp.async.wait_group 1;"), RELU),
    "a barrier that some threads miss": (MISSED_BARRIERS, RELU),
}


@cache
def programs_of(ptx, problem, architecture="sm_80", edit=lambda text: text):
    return linear_attention_programs(ptx, problem, architecture, edit)


def is_right(problem, programs):
    try:
        return attend_linearly(programs, problem).error() <= 1
    except (PtxError, MemoryFault):
        return False


@pytest.mark.parametrize("problem", cases.LINEAR_ATTENTION.values(), ids=cases.LINEAR_ATTENTION.keys())
def test_ptx_gives_what_the_reference_gives(ptx, problem):
    architecture = "sm_75" if problem.turing else "sm_80"
    assert attend_linearly(programs_of(ptx, problem, architecture), problem).error() <= 1


@pytest.mark.slow
@pytest.mark.parametrize("problem", cases.LINEAR_ATTENTION.values(), ids=cases.LINEAR_ATTENTION.keys())
def test_the_same_on_blackwell(ptx, problem):
    """For which nvcc writes another text."""
    assert is_right(problem, programs_of(ptx, problem, "sm_120"))


@pytest.mark.slow_after(2)
@pytest.mark.parametrize(("architecture", "depth"), [("sm_75", 8), ("sm_80", 16), *((each, 16) for each in NEWER)])
@pytest.mark.parametrize("which", FeatureMap, ids=lambda each: each.name.lower())
def test_products_are_those_of_tensor_cores(ptx, which, architecture, depth):
    """With matrix loads, asynchronous copies where there are any, and nothing in local memory."""
    problem = Problem(map=which, dtype=torch.float16)
    summarize, _, apply = programs_of(ptx, problem, architecture)
    for program in (summarize, apply):
        names = {each.name for each in program.code}
        assert f"mma.sync.aligned.m16n8k{depth}.row.col" in names
        assert any(name.startswith("ldmatrix.") for name in names)
        assert any(name.startswith("cp.async") for name in names) == (depth == 16)
        assert not any(".local" in name for name in names)


def test_struct_is_the_one_that_the_kernels_read(ptx):
    assert [misread(program, LinearAttentionParams) for program in programs_of(ptx, RELU)] == [[], [], []]


@pytest.mark.slow_after(3)
@pytest.mark.parametrize(("edit", "problem"), PLANTED.values(), ids=PLANTED.keys())
def test_planted_mistake_is_seen(ptx, edit, problem):
    assert not is_right(problem, programs_of(ptx, problem, edit=edit))


@pytest.mark.slow
@pytest.mark.parametrize("problem", dict.fromkeys(one for _, one in PLANTED.values()), ids=lambda each: each.map.name)
def test_without_a_mistake_nothing_is_seen(ptx, problem):
    assert is_right(problem, programs_of(ptx, problem))


def test_the_same_bits_as_on_the_emulator(ptx, emulated):
    """Of integers, whose sums are exact."""

    def of_integers(operands):
        for each in (operands.q, operands.k, operands.v):
            each.round_()

    theirs = LinearAttentionEmulator(emulated).run(RELU, spoil=of_integers).operands.out
    ours = attend_linearly(programs_of(ptx, RELU), RELU, of_integers).out
    assert torch.equal(ours, theirs)
