"""Convolutions of 3 x 3 with 8-bit pixels and weights, on the emulator."""

import pytest
import torch
from emulated_linear import LinearEmulator, Problem
from linear_instances import Card

pytestmark = pytest.mark.requires_command("g++", "sudo apt-get install g++")

CARD = Card(architecture=89, multiprocessors=128, shared_bytes=99 * 1024)
PROBLEMS = {
    "one image": Problem(image=(9, 8, 1), rows=72, depth=64),
    "two images of several tiles": Problem(image=(11, 10, 1), rows=220, depth=128, columns=136, dtype=torch.bfloat16),
    "stride of 2, odd edges": Problem(image=(9, 7, 2), rows=40, depth=128, gap=1),
    "stride of 2, even edges, copies at once": Problem(image=(8, 10, 2), rows=60, depth=64, late_copies=False),
    "one pixel": Problem(image=(1, 1, 1), rows=3, depth=192, columns=8),
    "narrow images": Problem(image=(20, 1, 1), rows=40, depth=64, columns=8, stubborn=True),
    "all that comes after": Problem(image=(5, 13, 1), rows=130, depth=64, bias=True, gate=65, residual="out", gap=1),
    "largest sums": Problem(image=(4, 4, 1), rows=16, depth=2560, columns=8, pattern="largest"),
    "Turing": Problem(image=(6, 12, 1), rows=72, depth=128, turing=True, bias=True, residual="given"),
    "Turing, stride of 2": Problem(image=(7, 9, 2), rows=40, depth=64, turing=True, stubborn=True),
}


@pytest.mark.slow_after(6)
@pytest.mark.parametrize("problem", PROBLEMS.values(), ids=PROBLEMS.keys())
def test_each_pixel_sees_nine(emulated, problem):
    emulator = LinearEmulator(emulated)
    assert emulator.numbers(problem)
    for number in emulator.numbers(problem):
        verdict = emulator.run(problem, number)
        assert (verdict.error, verdict.bank_conflicts) == ("", 0)
        assert verdict.output <= 1
