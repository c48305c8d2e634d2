"""Hopper's forward kernel on the emulator: late copies, products that are waited for, warps in any order."""

from dataclasses import replace

import pytest
import torch
from emulated_instances import in_turn
from emulated_kernels import HOPPER, Problem

pytestmark = pytest.mark.requires_command("g++", "sudo apt-get install g++")

ONE = Problem(head_dim=64, heads=1, kv_heads=1, nq=70, nk=90, hopper=True)
PROBLEMS = {
    "ragged": ONE,
    "several tiles of queries in a block": replace(ONE, nq=400, nk=300, tiles_per_block=2, outliers=True),
    "causal": replace(ONE, nq=200, nk=300, causal=True),
    "rows that see nothing": replace(ONE, nq=210, nk=70, causal=True),
    "blocks that see nothing": replace(ONE, nq=400, nk=70, causal=True, tiles_per_block=3),
    "groups of heads": replace(ONE, batch=2, heads=4, kv_heads=2, nk=140, tokens_first=True, tiles_per_block=8),
    "one tensor": replace(ONE, nq=90, heads=2, kv_heads=2, fused=True),
    "filled up": replace(ONE, head_dim=40, nk=150),
    "64-byte rows, filled up": replace(ONE, head_dim=88, dtype=torch.float16, nk=200, heads=2, kv_heads=2),
    "64-byte rows": replace(ONE, head_dim=96, dtype=torch.float16, nk=360),
    "one key": replace(ONE, nq=1, nk=1),
    "a maximum that creeps up": replace(ONE, nq=20, nk=1100, creeping=True),
}
CONDITIONS = {
    "late reads": {"late_reads": True},
    "early copies": {"late_copies": False},
    "stubborn": {"stubborn": True},
    "stubborn, late reads": {"stubborn": True, "late_reads": True},
}
FAR = tuple(replace(ONE, batch=2, heads=2, kv_heads=2, nk=150, far=axis) for axis in ("batch", "head", "token"))
HEAD_DIMS = (32, 40, 64, 72, 80, 88, 96, 112, 128, 160, 192, 256)
EVERY = tuple(
    replace(ONE, head_dim=head_dim, dtype=dtype, nq=nq, nk=nk, causal=causal, seed=nk, tiles_per_block=1 + nq // 200)
    for head_dim in HEAD_DIMS
    for dtype in (torch.float16, torch.bfloat16)
    for nq, nk, causal in ((130, 200, False), (290, 370, True))
)


def run(emulator, problem):
    """The verdict of the instance with the fewest columns to fill up."""
    number = min(emulator.numbers(problem), key=lambda each: emulator.instances[each].head_dim)
    return emulator.run(problem, number)


@pytest.mark.parametrize("problem", PROBLEMS.values(), ids=PROBLEMS.keys())
def test_it_agrees_with_the_reference(emulator, problem):
    verdict = run(emulator, problem)
    assert verdict.right, verdict


@pytest.mark.parametrize("conditions", CONDITIONS.values(), ids=CONDITIONS.keys())
def test_it_is_right_whenever_copies_arrive_and_operands_are_read(emulator, conditions):
    verdict = run(emulator, replace(ONE, nq=200, nk=300, **conditions))
    assert verdict.right, verdict


def test_every_order_of_warps_gives_the_same_bits(emulator):
    problem = replace(ONE, nk=300)
    number = emulator.numbers(problem)[0]
    first, second = (emulator.compute(problem, number, order=order).tensors for order in (1, 2))
    assert torch.equal(first.out, second.out) and torch.equal(first.lse, second.lse)


@pytest.mark.slow
@pytest.mark.parametrize("problem", FAR, ids=lambda problem: problem.far)
def test_offsets_are_of_64_bits(emulator, problem):
    verdict = run(emulator, problem)
    assert verdict.right, verdict


@pytest.mark.slow
@pytest.mark.parametrize("conditions", [{}, *CONDITIONS.values()], ids=["random", *CONDITIONS])
def test_every_instance(emulator, conditions):
    """Each with head sizes that it fills up, too."""
    problems = [replace(problem, **conditions) for problem in EVERY]
    chosen = in_turn({problem: emulator.numbers(problem) for problem in problems})
    assert set(chosen.values()) == {n for n, each in enumerate(emulator.instances) if each.kind == HOPPER}
    for problem, number in chosen.items():
        verdict = emulator.run(problem, number)
        assert verdict.right, (problem, verdict)
