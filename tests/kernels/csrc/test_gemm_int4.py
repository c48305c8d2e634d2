"""The product of 4-bit x and weights on the emulator, with scales by row or by group.

By 4-bit products, and by 8-bit ones from Hopper on.
"""

from functools import partial

import pytest
import torch
from emulated_instances import in_turn
from emulated_linear import LinearEmulator, Operands, Problem
from fuzzed_products import DTYPES, ENDS, check, fuzzed, name_of

pytestmark = pytest.mark.requires_command("g++", "sudo apt-get install g++")

KINDS = ("ampere", "hopper", "turing")
SCALES = pytest.mark.parametrize("by_group", [False, True], ids=["by row", "by group"])


def w4a4(kind="ampere", **changes):
    """A problem in 4 bits on both sides, on that kind of GPU."""
    return Problem(bits=4, x_bits=4, turing=kind == "turing", hopper=kind == "hopper", **changes)


@pytest.fixture
def emulator(emulated):
    return LinearEmulator(emulated)


def problems():
    for by_group, depths, ends in (
        (False, (32, 96, 128, 160, 256, 640), ENDS * 2),
        (True, (64, 128, 192, 320, 640), ENDS),
    ):
        for dtype in DTYPES:
            kinds = KINDS if dtype is torch.float16 else KINDS[:2]  # Turing multiplies no bfloat16
            for number, end in enumerate(ends):
                make = partial(w4a4, kinds[number % len(kinds)])
                yield fuzzed(make, depths, number, dtype=dtype, by_group=by_group, **end)


FUZZED = list(problems())


@pytest.fixture(scope="module")
def choice(quick_library):
    """For each problem a kernel, so that all have their turn."""
    emulator = LinearEmulator(quick_library)
    return in_turn({problem: emulator.numbers(problem) for problem in FUZZED})


@pytest.mark.parametrize("problem", FUZZED, ids=name_of)
def test_fuzzed_problem(emulator, choice, problem):
    check(emulator, problem, choice[problem])


def test_fuzzed_problems_leave_nothing_out(emulator, choice):
    assert set(choice.values()) == {number for number, each in enumerate(emulator.instances) if each.x_bits == 4}
    told = {(problem.by_group, problem.turing, problem.hopper) for problem in FUZZED}
    assert told == {(by, *kind) for by in (False, True) for kind in ((False, False), (True, False), (False, True))}


@SCALES
@pytest.mark.parametrize("kind", KINDS)
def test_every_number_comes_out_exactly(emulator, kind, by_group):
    """The identity on one side lets the integers of the other come out, unrounded and each in its place."""
    left = w4a4(kind, rows=128, depth=128, columns=136, pattern="x", by_group=by_group)
    right = w4a4(kind, rows=136, depth=128, columns=128, pattern="weight", by_group=by_group)
    assert {int(each) for each in Operands(left).codes.unique()} == set(range(-8, 8))
    for number in emulator.numbers(left):
        verdict = check(emulator, left, number)
        assert torch.equal(verdict.out.double(), verdict.operands.codes.double().T)
        verdict = check(emulator, right, number)
        assert torch.equal(verdict.out.double(), verdict.operands.x.double())


HARD = {
    "one row, eight columns": {"rows": 1, "columns": 8, "depth": 32},
    "no columns of x": {"depth": 0, "bias": True, "residual": "given"},
    "many tiles deep": {"depth": 3200, "rows": 20, "columns": 40},
    "the largest sums": {"depth": 131_040, "rows": 2, "columns": 8, "pattern": "largest"},
    "full tiles": {"rows": 256, "columns": 128, "depth": 384},
    "rows far apart": {"gap": 50, "rank": 16, "gate": 9, "residual": "given"},
}


HARD_BY_GROUP = HARD | {
    "one row, eight columns": {"rows": 1, "columns": 8, "depth": 64},
    "the largest sums": {"depth": 640, "rows": 2, "columns": 8, "pattern": "largest"},
}


@pytest.mark.slow_after(12)
@SCALES
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", HARD)
def test_hard_problem(emulator, kind, name, by_group):
    problem = w4a4(kind, by_group=by_group, **(HARD_BY_GROUP if by_group else HARD)[name])
    for number in emulator.numbers(problem)[-1:]:
        check(emulator, problem, number)


@SCALES
@pytest.mark.parametrize("kind", KINDS)
def test_nothing_is_multiplied_twice(emulator, kind, by_group):
    """Products of 16 x 8 x 64, on Turing of 8 x 8 x 32, from Hopper on two of 16 x 8 x 32 in 8 bits."""
    problem = w4a4(kind, rows=256, columns=128, depth=256, by_group=by_group)
    each = {"ampere": 8192, "turing": 2048, "hopper": 4096}[kind]
    for number in emulator.numbers(problem):
        assert check(emulator, problem, number).products == 256 * 128 * 256 // each
