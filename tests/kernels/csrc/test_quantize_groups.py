"""The kernels that quantize rows to 4 bits with a scale for each 64 columns, on the emulator."""

import random

import pytest
import torch
from emulated_quantize import SHARES, Problem, QuantizeEmulator, judge, unpacked

from mezzotint.quantization.int4 import pack
from mezzotint.quantization.svdquant.groups import quantize_input_groups

pytestmark = pytest.mark.requires_command("g++", "sudo apt-get install g++")

DTYPES = (torch.float16, torch.bfloat16)
PATTERNS = ("normal", "offset", "outliers", "zeros", "integers", "large")
FUZZED = 12  # of each format


@pytest.fixture
def emulator(emulated):
    return QuantizeEmulator(emulated)


def grouped(**changes):
    """A problem with scales by group."""
    return Problem(bits=4, by_group=True, **changes)


def fuzzed(dtype, number):
    """A problem; the same in every run."""
    lots = random.Random(f"{dtype} {number}")
    columns = lots.choice((64, 128, 192, 256, 320, 640, 1152, 3072))
    return grouped(
        rows=lots.choice((1, 3, 5, 17)),
        columns=columns,
        group=lots.choice([group for group in (0, 16, 64, 256) if not group or columns % group == 0]),
        dtype=dtype,
        smooth=number % 3 != 0,
        gap=lots.choice((0, 1)),
        pattern=PATTERNS[number % len(PATTERNS)],
        turing=number % 2 == 1,
        seed=number,
    )


@pytest.mark.parametrize("dtype", DTYPES, ids=["float16", "bfloat16"])
def test_fuzzed_problems(emulator, dtype):
    for number in range(FUZZED):
        problem = fuzzed(dtype, number)
        verdict = emulator.run(problem)
        assert verdict.right, f"{verdict.error} {verdict.scales:.3g} {verdict.values:.3g}: {problem}"


HARD = {
    "64 columns": grouped(rows=1, columns=64, smooth=True),
    "the widest row": grouped(rows=2, columns=16384, group=256, smooth=True),
    "an odd number of teams": grouped(rows=14, columns=2304, group=256),
    "far outliers": grouped(rows=9, columns=1152, pattern="outliers", smooth=True),
    "no columns": grouped(rows=3, columns=0),
}


@pytest.mark.parametrize("problem", HARD.values(), ids=HARD.keys())
def test_hard_problem(emulator, problem):
    verdict = emulator.run(problem)
    assert verdict.right, f"{verdict.error} {verdict.scales:.3g} {verdict.values:.3g}"


def test_engine_s_reference_gives_the_same(emulator):
    """Scales and packed integers of smoothed rows that are not rotated."""
    operands = emulator.run(grouped(rows=40, columns=640, smooth=True)).operands
    codes, scales = quantize_input_groups(operands.x.float() * operands.smooth)
    assert torch.allclose(operands.scales, scales, rtol=1e-6)
    assert float((pack(codes) != operands.values.view(torch.uint8)).float().mean()) < 1e-3


def test_every_share_is_taken(emulator):
    operands = [
        emulator.run(grouped(rows=40, columns=1152, pattern=pattern)).operands for pattern in ("outliers", "normal")
    ]
    shares = [7 * each.scales.t().flatten() / each.x.float().abs().view(-1, 64).amax(dim=1) for each in operands]
    assert {min(SHARES, key=lambda share: abs(share - float(each))) for each in torch.cat(shares)} == set(SHARES)


def test_both_ends_are_reached_and_no_number_leaves_its_half(emulator):
    integers = unpacked(emulator.run(grouped(rows=40, columns=3072)).operands.values)
    assert {int(each) for each in integers.unique()} == set(range(-8, 8))


@pytest.mark.parametrize("broken", [float("nan"), float("inf")], ids=str)
def test_a_number_that_is_none_shows_in_its_group_s_scale(emulator, broken):
    problem = grouped(rows=20, columns=512, group=64)
    seen = emulator.run(problem, spoil=lambda operands: operands.x[11].index_fill_(0, torch.tensor(300), broken))
    assert torch.nonzero(~seen.operands.scales.isfinite()).tolist() == [[4, 11]]


def test_a_wrong_answer_is_seen(emulator):
    operands = emulator.run(grouped(rows=12, columns=320, gap=1, group=64, smooth=True)).operands
    assert judge(operands).right
    operands.values[7, 13] ^= 1
    assert not judge(operands).right
    operands.values[7, 13] ^= 1
    operands.scales[3, 5] *= 0.85
    assert not judge(operands).right
    operands.scales[3, 5] /= 0.85
    operands.smooth[70] *= 2
    assert not judge(operands).right
