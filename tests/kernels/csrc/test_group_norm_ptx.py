"""GroupNorm from the PTX that nvcc makes of it: run, and with mistakes planted in its text."""

from functools import cache

import pytest
import torch
from emulated_group_norm import GroupNormEmulator, Problem
from kernel_params import GroupNormParams
from ptx.edits import MISSED_BARRIERS, Edit, replaced, shuffled
from ptx.group_norm_launch import group_norm_programs, normalize_groups
from ptx.memory import MemoryFault
from ptx.program import PtxError
from ptx.structs import misread

from kernel_build.sources import ARCHITECTURES

pytestmark = pytest.mark.requires_command("g++", "sudo apt-get install g++")

PLAIN = Problem(channels=72, groups=2, pixels=40)
CASES = {
    "SiLU": PLAIN,
    "without SiLU, in float16": Problem(channels=40, groups=4, pixels=131, silu=False, dtype=torch.float16),
    "no weights": Problem(channels=64, pixels=9, affine=False, batch=2),
}
PLANTED = {
    "moments from another lane": (shuffled(1), PLAIN),
    "inverses for exponents": (replaced("ex2.approx.ftz.f32", "rcp.approx.ftz.f32"), PLAIN),
    "variance for deviation": (replaced("sqrt.rn.f32", "mov.f32"), CASES["without SiLU, in float16"]),
    "a barrier that some threads miss": (MISSED_BARRIERS, PLAIN),
    "the next eight channels": (
        Edit(r"ld\.global(\S*)\.v4\.(\S+)\s+(\{[^}]+\}), \[(%\w+)(\+\d+)?\]", r"ld.global\1.v4.\2 \3, [\4+16]"),
        PLAIN,
    ),
}


@cache
def programs_of(ptx, problem, architecture="sm_80", edit=lambda text: text):
    return group_norm_programs(ptx, problem, architecture, edit)


def is_right(problem, programs):
    try:
        return normalize_groups(programs, problem).error() <= 1
    except (PtxError, MemoryFault):
        return False


@pytest.mark.parametrize("problem", CASES.values(), ids=CASES)
def test_ptx_gives_what_the_reference_gives(ptx, problem):
    assert normalize_groups(programs_of(ptx, problem), problem).error() <= 1


@pytest.mark.slow
@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_the_same_on_others(ptx, architecture):
    """With loads and stores of 16 bytes, and nothing in local memory."""
    problem = CASES["without SiLU, in float16"]
    programs = programs_of(ptx, problem, architecture)
    assert is_right(problem, programs)
    for program in (programs[0], programs[2]):
        names = {each.name for each in program.code}
        assert any(name.startswith("ld.global.v4") for name in names) and "ld.global.u32" not in names
        assert not any(".local" in name for name in names)


def test_struct_is_the_one_that_the_kernels_read(ptx):
    assert [misread(program, GroupNormParams) for program in programs_of(ptx, PLAIN)] == [[], [], []]


@pytest.mark.parametrize(("edit", "problem"), PLANTED.values(), ids=PLANTED.keys())
def test_planted_mistake_is_seen(ptx, edit, problem):
    assert not is_right(problem, programs_of(ptx, problem, edit=edit))


def test_the_same_bits_as_on_the_emulator(ptx, emulated):
    """Up to fused multiplications and additions, which the emulator has none of: within two roundings of the output."""
    theirs = GroupNormEmulator(emulated).run(PLAIN)[1].out
    ours = normalize_groups(programs_of(ptx, PLAIN), PLAIN).out
    torch.testing.assert_close(ours, theirs, rtol=2 * torch.finfo(PLAIN.dtype).eps, atol=1e-3)
