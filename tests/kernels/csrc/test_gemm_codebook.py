"""The product of 8-bit x and weights of 4 bits with a codebook on the emulator."""

import pytest
import torch
from emulated_instances import in_turn
from emulated_linear import LinearEmulator, Operands, Problem
from fuzzed_products import DTYPES, ENDS, check, fuzzed, name_of

pytestmark = pytest.mark.requires_command("g++", "sudo apt-get install g++")


def coded(**changes):
    return Problem(bits=4, codebook=True, **changes)


@pytest.fixture
def emulator(emulated):
    return LinearEmulator(emulated)


FUZZED = [
    # Turing multiplies no bfloat16
    fuzzed(
        coded, (64, 128, 192, 320, 640), number, dtype=dtype, turing=dtype is torch.float16 and number % 2 == 1, **end
    )
    for dtype in DTYPES
    for number, end in enumerate(ENDS)
]


@pytest.fixture(scope="module")
def choice(quick_library):
    """For each problem a kernel, so that all have their turn."""
    emulator = LinearEmulator(quick_library)
    return in_turn({problem: emulator.numbers(problem) for problem in FUZZED})


@pytest.mark.parametrize("problem", FUZZED, ids=name_of)
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
