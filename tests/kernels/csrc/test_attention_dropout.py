"""Dropout on the emulator: both passes drop the same weights, those of the reference in float64."""

from dataclasses import replace

import pytest
import torch
from backward_tiles import Dropout
from emulated_backward import BackwardEmulator, Case
from emulated_kernels import Problem, Tensors

pytestmark = pytest.mark.requires_command("g++", "sudo apt-get install g++")

FLOAT = torch.float16
PLAIN = Problem(head_dim=64, dtype=FLOAT, nq=70, nk=90, dropout=Dropout(kept=200, seed=2**63 + 5, offset=2**40 - 3))
PROBLEMS = {
    "ragged": PLAIN,
    "causal, groups": replace(PLAIN, heads=4, batch=2, causal=True),
    "lengths": replace(PLAIN, batch=2, key_lengths=(0, 70)),
    "most are dropped": replace(PLAIN, dropout=Dropout(kept=1, seed=3)),
    "none is dropped": replace(PLAIN, dropout=Dropout(kept=256, seed=3)),
    "several tiles": replace(PLAIN, nq=150, nk=200, stubborn=True, late_copies=False),
    "Turing": replace(PLAIN, turing=True),
}


@pytest.mark.parametrize("problem", PROBLEMS.values(), ids=PROBLEMS.keys())
def test_the_forward_drops_the_weights_of_the_reference(emulator, problem):
    numbers = emulator.numbers(problem)
    assert len(numbers) == 1
    verdict = emulator.run(problem, numbers[0])
    assert verdict.right, verdict


@pytest.mark.parametrize("problem", PROBLEMS.values(), ids=PROBLEMS.keys())
def test_the_backward_drops_the_same(emulated, problem):
    backward, case = BackwardEmulator(emulated), Case(problem=problem, lse_gradient=True)
    numbers = backward.numbers(case)
    assert len(numbers) == 1
    verdict = backward.run(case, numbers[0])
    assert verdict.right, verdict


def test_the_bits_are_the_same_each_time_and_others_by_seed_and_offset(emulator):
    number = emulator.numbers(PLAIN)[0]

    def computed(dropout, order):
        return emulator.compute(replace(PLAIN, dropout=dropout), number, order=order).tensors.out

    first = computed(PLAIN.dropout, 1)
    assert torch.equal(first, computed(PLAIN.dropout, 2))
    for other in (replace(PLAIN.dropout, seed=6), replace(PLAIN.dropout, offset=0)):
        assert not torch.equal(first, computed(other, 1))


def test_what_is_chosen(emulator, emulated):
    """There is one kernel in each pass; masks and other sizes have none."""
    from linear_instances import Card

    card = Card(architecture=86, multiprocessors=4, shared_bytes=99 * 1024)
    backward = BackwardEmulator(emulated)
    arguments = Tensors(PLAIN).arguments()
    assert emulator.plan(PLAIN, card, dropout=arguments.dropout).text == "dropout float16 d64 64x64"
    for other in (replace(PLAIN, head_dim=72), replace(PLAIN, dtype=torch.bfloat16), replace(PLAIN, key_mask="late")):
        plan = emulator.plan(other, card, dropout=arguments.dropout)
        assert plan.instance is None and plan.text.startswith("no dropout kernel for head size")
    from emulated_backward import BackwardTensors

    wanted = BackwardTensors(Case(problem=PLAIN)).arguments()
    assert backward.plan(wanted, 86, 4, 99 * 1024).text.endswith(b" dropout")
    wanted.head_dim = 72
    assert backward.plan(wanted, 86, 4, 99 * 1024).text.startswith(b"no dropout backward kernel for head size 72")
