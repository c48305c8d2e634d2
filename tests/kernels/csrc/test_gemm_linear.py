"""Every kernel of the integer product on the emulator: fuzzed problems, and those that it most easily gets wrong."""

import itertools
import random

import pytest
import torch
from emulated_instances import in_turn
from emulated_linear import GROUP, UNTOUCHED, LinearEmulator, Operands, Problem, judge

pytestmark = pytest.mark.requires_command("g++", "sudo apt-get install g++")

DTYPES = (torch.float16, torch.bfloat16)
# What is added to the product, or done to it; each format of weights and outputs meets each of these, and Turing too.
ENDS = (
    {},
    {"bias": True},
    {"rank": 16},
    {"gate": 1},
    {"residual": "given"},
    {"residual": "out"},
    {"bias": True, "gate": 50, "residual": "out"},
    {"bias": True, "rank": 32},
    {"rank": 80, "residual": "given"},
    {"bias": True, "rank": 256, "gate": 7, "residual": "given"},
)


@pytest.fixture
def emulator(emulated):
    return LinearEmulator(emulated)


def fuzzed(bits, dtype, number, end):
    """A problem with that end; the same in every run."""
    lots = random.Random(f"{dtype} {bits} {number}")
    depths = (64, 128, 192, 320) if bits == 4 else (16, 48, 64, 80, 128, 208, 320)
    return Problem(
        bits=bits,
        dtype=dtype,
        rows=lots.choice((1, 2, 7, 16, 17, 63, 64, 65, 100, 129, 200)),
        columns=lots.choice((8, 24, 64, 72, 120, 128, 136, 200)),
        depth=lots.choice(depths),
        gap=lots.choice((0, 0, 1, 3)),
        turing=dtype is torch.float16 and number % 2 == 1,  # which multiplies no bfloat16
        late_copies=lots.random() < 0.7,
        stubborn=number % 4 == 0,
        seed=number,
        **end,
    )


FUZZED = [
    fuzzed(bits, dtype, number, end)
    for bits, dtype in itertools.product((8, 4), DTYPES)
    for number, end in enumerate(ENDS * 3)
]


def name_of(problem):
    size = f"{problem.rows}x{problem.depth}x{problem.columns}"
    return f"w{problem.bits} {str(problem.dtype).removeprefix('torch.')} {size} {problem.seed}"


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


@pytest.mark.slow_after(40)
@pytest.mark.parametrize("problem", FUZZED, ids=name_of)
def test_fuzzed_problem(emulator, choice, problem):
    check(emulator, problem, choice[problem])


def test_fuzzed_problems_leave_nothing_out(emulator, choice):
    assert len(FUZZED) >= 120
    kinds = [each.multiplies for each in emulator.instances]
    plain = [number for number, (_, x_bits, _, *others) in enumerate(kinds) if x_bits == 8 and not any(others)]
    assert set(choice.values()) == set(plain)
    for what in ("turing", "late_copies", "stubborn", "bias"):
        assert {getattr(problem, what) for problem in FUZZED} == {False, True}, what
    for bits, turing in itertools.product((8, 4), (False, True)):
        group = [problem for problem in FUZZED if (problem.bits, problem.turing) == (bits, turing)]
        assert {problem.residual for problem in group} == {None, "given", "out"}
        assert any(problem.rank for problem in group) and any(problem.gate for problem in group)
        assert any(problem.depth > 4 * GROUP for problem in group), "more tiles than are on their way at once"


@pytest.mark.parametrize("turing", [False, True], ids=["ampere", "turing"])
@pytest.mark.parametrize("bits", [8, 4])
def test_every_number_comes_out_exactly(emulator, bits, turing):
    """The identity on one side lets the integers of the other come out, unrounded and each in its place."""
    left = Problem(bits=bits, rows=128, depth=128, columns=136, pattern="x", turing=turing)
    right = Problem(bits=bits, rows=136, depth=128, columns=128, pattern="weight", turing=turing)
    for number in emulator.numbers(left):
        verdict = check(emulator, left, number)
        assert torch.equal(verdict.out.double(), verdict.operands.integers().T)
        verdict = check(emulator, right, number)
        groups = verdict.operands.groups.repeat_interleave(GROUP, dim=1)[torch.arange(128), torch.arange(128)]
        wanted = verdict.operands.x.double() * (groups if bits == 4 else 1)
        assert torch.equal(verdict.out, wanted.to(verdict.out.dtype))


def test_all_that_four_bits_can_say_is_widened_exactly(emulator):
    """15 numbers with each of 17 scales, at every place of a group that they can have."""
    problem = Problem(bits=4, rows=64, depth=64, columns=15 * 17 + 1, pattern="x")
    operands = Operands(problem)
    assert {int(each) for each in operands.codes.unique()} == set(range(-7, 8))
    assert {int(each) for each in operands.groups.unique()} == set(range(1, 18))
    for number in emulator.numbers(problem):
        verdict = check(emulator, problem, number)
        assert torch.equal(verdict.out.double(), operands.integers().T)


HARD = {
    "one row, eight columns": Problem(rows=1, columns=8, depth=64),
    "one row with all that there is": Problem(
        rows=1, columns=8, depth=64, bits=4, bias=True, rank=16, gate=1, residual="out"
    ),
    "no columns of x": Problem(depth=0, bias=True, residual="given"),
    "no columns of x, 4 bits": Problem(depth=0, bits=4, bias=True),
    "sixteen columns of x": Problem(depth=16, rows=20),
    "many tiles deep": Problem(depth=1600, rows=20, columns=40),
    "many tiles deep, 4 bits": Problem(depth=1600, rows=20, columns=40, bits=4),
    "sums beyond 24 bits": Problem(depth=2048, rows=20, columns=40, pattern="largest"),
    "sums beyond 24 bits, 4 bits": Problem(depth=2048, rows=20, columns=40, bits=4, pattern="largest"),
    "full tiles": Problem(rows=256, columns=128, depth=192),
    "more rows than are numbered together": Problem(rows=64 * 9 + 3, columns=136, depth=16),
    "a gate for all rows": Problem(rows=130, gate=2**40, residual="out"),
    "gates that change within a tile": Problem(rows=130, gate=3, residual="given"),
    "rows far apart": Problem(gap=50, rank=16, gate=9, residual="given", bits=4),
    "copies that arrive at once": Problem(depth=512, rows=40, bits=4, late_copies=False),
    "a rank that is a tile and a half": Problem(rank=48, bits=4),
    "the highest rank on Turing": Problem(rank=256, turing=True, bias=True),
    "4 bits on Turing": Problem(bits=4, turing=True, depth=320, rank=32),
}


@pytest.mark.parametrize("problem", HARD.values(), ids=HARD.keys())
def test_hard_problem(emulator, problem):
    assert emulator.numbers(problem)
    for number in emulator.numbers(problem):
        check(emulator, problem, number)


@pytest.mark.slow_after(2)
@pytest.mark.parametrize("bits", [8, 4])
@pytest.mark.parametrize("late_copies", [True, False], ids=["late", "early"])
def test_order_of_warps_does_not_matter(emulator, bits, late_copies):
    problem = Problem(bits=bits, depth=384, rank=32, rows=130, late_copies=late_copies)
    for number in emulator.numbers(problem):
        first, *others = (emulator.run(problem, number, order=order) for order in (1, 2, 3))
        for other in others:
            assert torch.equal(first.out, other.out)


@pytest.mark.parametrize("turing", [False, True], ids=["ampere", "turing"])
def test_nothing_is_multiplied_twice(emulator, turing):
    """Products of 16 x 8 x 32, on Turing of 8 x 8 x 16: those of full tiles, and not one more."""
    problem = Problem(rows=256, columns=128, depth=192, turing=turing)
    for number in emulator.numbers(problem):
        assert check(emulator, problem, number).products == 256 * 128 * 192 // (1024 if turing else 4096)


def test_a_wrong_answer_is_seen(emulator):
    problem = Problem(gap=1, rank=16, gate=5, residual="given")
    operands = emulator.run(problem, emulator.numbers(problem)[0]).operands
    assert judge(operands) <= 1
    for change in (1.002, 0.998):
        operands.out[40, 9] *= change
        assert judge(operands) > 1
        operands.out[40, 9] /= change
    operands.out.as_strided((1,), (1,), operands.out.storage_offset() + problem.columns)[0] = UNTOUCHED + 1
    assert judge(operands) == float("inf")
