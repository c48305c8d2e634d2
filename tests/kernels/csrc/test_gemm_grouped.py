"""The product of 4-bit x and weights with scales by group, on the emulator."""

import random

import pytest
import torch
from emulated_instances import in_turn
from emulated_linear import Card, LinearEmulator, Operands, Problem, judge

pytestmark = pytest.mark.requires_command("g++", "sudo apt-get install g++")

DTYPES = (torch.float16, torch.bfloat16)
ENDS = (
    {},
    {"bias": True},
    {"rank": 32},
    {"gate": 7, "residual": "given"},
    {"bias": True, "gate": 50, "residual": "out"},
    {"bias": True, "rank": 80},
)
KINDS = ("ampere", "hopper", "turing")


def grouped(kind="ampere", **changes):
    """A problem in 4 bits on both sides with scales by group, on that kind of GPU."""
    return Problem(bits=4, x_bits=4, by_group=True, turing=kind == "turing", hopper=kind == "hopper", **changes)


@pytest.fixture
def emulator(emulated):
    return LinearEmulator(emulated)


def fuzzed(dtype, number, end):
    """A problem with that end; the same in every run."""
    lots = random.Random(f"{dtype} {number}")
    kinds = KINDS if dtype is torch.float16 else KINDS[:2]  # Turing multiplies no bfloat16
    return grouped(
        kinds[number % len(kinds)],
        dtype=dtype,
        rows=lots.choice((1, 2, 17, 64, 65, 129)),
        columns=lots.choice((8, 24, 72, 128, 136)),
        depth=lots.choice((64, 128, 192, 320, 640)),
        gap=lots.choice((0, 0, 1, 3)),
        late_copies=lots.random() < 0.7,
        stubborn=number % 4 == 0,
        seed=number,
        **end,
    )


FUZZED = [fuzzed(dtype, number, end) for dtype in DTYPES for number, end in enumerate(ENDS)]


@pytest.fixture(scope="module")
def choice(quick_library):
    """For each problem a kernel, so that all have their turn."""
    emulator = LinearEmulator(quick_library)
    return in_turn({problem: emulator.numbers(problem) for problem in FUZZED})


def check(emulator, problem, number):
    verdict = emulator.run(problem, number)
    assert verdict.error == ""
    assert verdict.output <= 1
    assert verdict.bank_conflicts == 0
    return verdict


@pytest.mark.parametrize("problem", FUZZED, ids=lambda each: f"{each.rows}x{each.depth}x{each.columns} {each.seed}")
def test_fuzzed_problem(emulator, choice, problem):
    check(emulator, problem, choice[problem])


def test_fuzzed_problems_leave_nothing_out(emulator, choice):
    assert set(choice.values()) == {number for number, each in enumerate(emulator.instances) if each.is_grouped}
    assert {(problem.turing, problem.hopper) for problem in FUZZED} == {(False, False), (True, False), (False, True)}


@pytest.mark.parametrize("kind", KINDS)
def test_every_number_comes_out_exactly(emulator, kind):
    """The identity on one side lets the integers of the other come out, unrounded and each in its place."""
    left = grouped(kind, rows=128, depth=128, columns=136, pattern="x")
    right = grouped(kind, rows=136, depth=128, columns=128, pattern="weight")
    assert {int(each) for each in Operands(left).codes.unique()} == set(range(-8, 8))
    for number in emulator.numbers(left):
        verdict = check(emulator, left, number)
        assert torch.equal(verdict.out.double(), verdict.operands.codes.double().T)
        verdict = check(emulator, right, number)
        assert torch.equal(verdict.out.double(), verdict.operands.x.double())


HARD = {
    "one row, eight columns": {"rows": 1, "columns": 8, "depth": 64},
    "no columns of x": {"depth": 0, "bias": True, "residual": "given"},
    "many tiles deep": {"depth": 3200, "rows": 20, "columns": 40},
    "the largest sums": {"depth": 640, "rows": 2, "columns": 8, "pattern": "largest"},
    "full tiles": {"rows": 256, "columns": 128, "depth": 384},
    "rows far apart": {"gap": 50, "rank": 16, "gate": 9, "residual": "given"},
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("changes", HARD.values(), ids=HARD.keys())
def test_hard_problem(emulator, kind, changes):
    problem = grouped(kind, **changes)
    for number in emulator.numbers(problem)[-1:]:
        check(emulator, problem, number)


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_is_multiplied_twice(emulator, kind):
    """Products of 16 x 8 x 64, on Turing of 8 x 8 x 32, from Hopper on two of 16 x 8 x 32 in 8 bits."""
    problem = grouped(kind, rows=256, columns=128, depth=256)
    each = {"ampere": 8192, "turing": 2048, "hopper": 4096}[kind]
    for number in emulator.numbers(problem):
        assert check(emulator, problem, number).products == 256 * 128 * 256 // each


def test_another_group_s_scale_is_seen(emulator):
    problem = grouped(rows=20, depth=256, columns=40)
    operands = emulator.run(problem, emulator.numbers(problem)[0]).operands
    assert judge(operands) <= 1
    for scales in (operands.x_group_scales, operands.weight_group_scales):
        before = scales[2].clone()
        scales[2] = scales[1]
        assert judge(operands) > 10
        scales[2] = before
    assert judge(operands) <= 1


def test_scales_by_row_and_by_group_have_kernels_of_their_own(emulator):
    card = Card(architecture=89, multiprocessors=128, shared_bytes=101376)
    for by_group in (False, True):
        plan = emulator.plan(card, rows=4096, depth=3072, columns=9216, bits=4, x_bits=4, by_group=by_group)
        assert bool(plan.instance.is_grouped) is by_group
        assert plan.text == f"linear w4a4{' by group' if by_group else ''} float16 " + (
            f"{plan.instance.tile_m}x{plan.instance.tile_n}"
        )
