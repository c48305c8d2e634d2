"""The product of 4-bit x and weights on the emulator: by 4-bit products, and by 8-bit ones from Hopper on."""

import random

import pytest
import torch
from emulated_instances import in_turn
from emulated_linear import LinearEmulator, Operands, Problem

pytestmark = pytest.mark.requires_command("g++", "sudo apt-get install g++")

DTYPES = (torch.float16, torch.bfloat16)
ENDS = (
    {},
    {"bias": True},
    {"rank": 16},
    {"gate": 7, "residual": "given"},
    {"bias": True, "gate": 50, "residual": "out"},
    {"bias": True, "rank": 80},
)
KINDS = ("ampere", "hopper", "turing")


def w4a4(kind="ampere", **changes):
    """A problem in 4 bits on both sides, on that kind of GPU."""
    return Problem(bits=4, x_bits=4, turing=kind == "turing", hopper=kind == "hopper", **changes)


@pytest.fixture
def emulator(emulated):
    return LinearEmulator(emulated)


def fuzzed(dtype, number, end):
    """A problem with that end; the same in every run."""
    lots = random.Random(f"{dtype} {number}")
    kinds = KINDS if dtype is torch.float16 else KINDS[:2]  # Turing multiplies no bfloat16
    return w4a4(
        kinds[number % len(kinds)],
        dtype=dtype,
        rows=lots.choice((1, 2, 17, 64, 65, 129)),
        columns=lots.choice((8, 24, 72, 128, 136)),
        depth=lots.choice((32, 96, 128, 160, 256, 640)),
        gap=lots.choice((0, 0, 1, 3)),
        late_copies=lots.random() < 0.7,
        stubborn=number % 4 == 0,
        seed=number,
        **end,
    )


FUZZED = [fuzzed(dtype, number, end) for dtype in DTYPES for number, end in enumerate(ENDS * 2)]


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
    by_row = [number for number, each in enumerate(emulator.instances) if each.x_bits == 4 and not each.is_grouped]
    assert set(choice.values()) == set(by_row)
    assert {(problem.turing, problem.hopper) for problem in FUZZED} == {(False, False), (True, False), (False, True)}


@pytest.mark.parametrize("kind", KINDS)
def test_every_number_comes_out_exactly(emulator, kind):
    """The identity on one side lets the integers of the other come out, unrounded and each in its place."""
    left = w4a4(kind, rows=128, depth=128, columns=136, pattern="x")
    right = w4a4(kind, rows=136, depth=128, columns=128, pattern="weight")
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


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("changes", HARD.values(), ids=HARD.keys())
def test_hard_problem(emulator, kind, changes):
    problem = w4a4(kind, **changes)
    for number in emulator.numbers(problem)[-1:]:
        check(emulator, problem, number)


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_is_multiplied_twice(emulator, kind):
    """Products of 16 x 8 x 64, on Turing of 8 x 8 x 32, from Hopper on two of 16 x 8 x 32 in 8 bits."""
    problem = w4a4(kind, rows=256, columns=128, depth=256)
    each = {"ampere": 8192, "turing": 2048, "hopper": 4096}[kind]
    for number in emulator.numbers(problem):
        assert check(emulator, problem, number).products == 256 * 128 * 256 // each
