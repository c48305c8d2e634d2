"""Gradients by a block table on the emulator: those of the reference, and exactly 0 where nothing is seen."""

from dataclasses import replace

import pytest
import torch
from emulated_backward import GRADIENTS, BackwardEmulator, Case
from emulated_kernels import Problem

pytestmark = pytest.mark.requires_command("g++", "sudo apt-get install g++")

BASE = Problem(head_dim=64, heads=1, kv_heads=1, nq=150, nk=200, table="random")
CASES = {
    "shared": Case(problem=BASE, lse_gradient=True),
    "whole blocks, by heads of a group": Case(problem=replace(BASE, heads=2, nk=100, table="whole heads")),
}
SLOW = {}


@pytest.fixture
def emulator(emulated):
    """The backward pass on the emulator."""
    return BackwardEmulator(emulated)


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_gradients_by_a_table(emulator, case):
    numbers = emulator.numbers(case)
    assert numbers
    for number in numbers:
        verdict = emulator.run(case, number)
        assert verdict.right, verdict
