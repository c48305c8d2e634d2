"""The product of 8-bit x and weights of 4 bits with a codebook on the emulator."""

import random

import pytest
import torch
from emulated_instances import in_turn
from emulated_linear import LinearEmulator, Operands, Problem

pytestmark = pytest.mark.requires_command("g++", "sudo apt-get install g++")

ENDS = ({}, {"bias": True, "rank": 16}, {"gate": 7, "residual": "given"}, {"bias": True, "residual": "out"})
DTYPES = (torch.float16, torch.bfloat16)


def coded(**changes):
    return Problem(bits=4, codebook=True, **changes)


@pytest.fixture
def emulator(emulated):
    return LinearEmulator(emulated)


def fuzzed(dtype, number, end):
    """A problem with that end; the same in every run."""
    lots = random.Random(f"{dtype} {number}")
    return coded(
        turing=dtype is torch.float16 and number % 2 == 1,  # which multiplies no bfloat16
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
    assert set(choice.values()) == {number for number, each in enumerate(emulator.instances) if each.has_codebook}
    assert {problem.turing for problem in FUZZED} == {True, False}


@pytest.mark.parametrize("turing", [False, True])
def test_every_number_comes_out_exactly(emulator, turing):
    """All codes, and levels that are clipped."""
    problem = coded(rows=128, depth=128, columns=136, pattern="x", turing=turing)
    wanted = Operands(problem).integers()
    assert wanted.abs().max() == 127 and len(Operands(problem).codes.unique()) == 16
    for number in emulator.numbers(problem):
        assert check(emulator, problem, number).out.double().equal(wanted.T)
