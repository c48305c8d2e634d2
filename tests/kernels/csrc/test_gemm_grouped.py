"""Scales by group of 4-bit products on the emulator: what they have beyond those by row (test_gemm_int4.py)."""

import pytest
from emulated_linear import LinearEmulator, Problem, judge
from linear_instances import Card

pytestmark = pytest.mark.requires_command("g++", "sudo apt-get install g++")


@pytest.fixture
def emulator(emulated):
    return LinearEmulator(emulated)


def test_another_group_s_scale_is_seen(emulator):
    problem = Problem(bits=4, x_bits=4, by_group=True, rows=20, depth=256, columns=40)
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
