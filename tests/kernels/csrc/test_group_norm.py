"""GroupNorm's kernels on the emulator, by fuzzed problems and by those that are most easily got wrong."""

import random

import pytest
import torch
from emulated_group_norm import GroupNormEmulator, Problem

pytestmark = pytest.mark.requires_command("g++", "sudo apt-get install g++")

DTYPES = (torch.float16, torch.bfloat16)
HARD = {
    "one pixel": Problem(pixels=1),
    "groups of 10 channels": Problem(pixels=300, channels=320, batch=2),
    "groups of 30 channels": Problem(pixels=33, channels=960),
    "groups of 80 channels": Problem(pixels=40, channels=2560),
    "a whole segment": Problem(pixels=128, channels=128),
    "one more than a segment": Problem(pixels=129, channels=128),
    "one channel a group": Problem(pixels=70, channels=32, groups=32),
    "one group": Problem(pixels=70, channels=72, groups=1),
    "eight channels": Problem(pixels=70, channels=8, groups=2),
    "pixels apart": Problem(pixels=70, between=24, batch=2),
    "in place": Problem(pixels=150, in_place=True, batch=2),
    "no weights": Problem(affine=False),
    "without SiLU": Problem(silu=False, dtype=torch.float16),
    "a large mean": Problem(mean=100.0, deviation=0.5, pixels=500, silu=False),
    "a large mean in float16": Problem(mean=1000.0, deviation=1.0, pixels=500, dtype=torch.float16),
    "an outlier first": Problem(outlier=30000.0, pixels=500, dtype=torch.float16, silu=False),
    "squares beyond float16": Problem(deviation=10000.0, mean=0.0, pixels=200, dtype=torch.float16),
    "all the same": Problem(deviation=0.0, mean=3.0),
    "squares beyond bfloat16": Problem(deviation=0.0, mean=1e30),
}


@pytest.fixture
def emulator(emulated):
    return GroupNormEmulator(emulated)


def fuzzed(dtype, number):
    """A problem of that format; the same in every run."""
    lots = random.Random(f"{dtype} {number}")
    groups = lots.choice((1, 2, 16, 32))
    return Problem(
        dtype=dtype,
        batch=lots.choice((1, 2)),
        pixels=lots.choice((2, 31, 64, 127, 200, 290)),
        groups=groups,
        channels=groups * lots.choice((4, 10, 12)) * (8 if groups < 16 else 1),
        silu=lots.choice((False, True)),
        affine=lots.choice((False, True)),
        between=lots.choice((0, 8)),
        mean=lots.choice((0.0, 2.0, -8.0)),
        seed=number,
    )


@pytest.mark.parametrize("name", HARD)
def test_hard(emulator, name):
    error, operands = emulator.run(HARD[name])
    assert not error
    assert operands.error() <= 1


@pytest.mark.parametrize("number", range(6))
@pytest.mark.parametrize("dtype", DTYPES)
def test_fuzzed(emulator, dtype, number):
    error, operands = emulator.run(fuzzed(dtype, number))
    assert not error
    assert operands.error() <= 1


def test_the_same_bits_in_any_order(emulator):
    problem = Problem(pixels=300, channels=320, batch=2)
    first, second = (emulator.run(problem, order)[1].out for order in (1, 2))
    assert torch.equal(first, second)


def test_numbers_between_pixels_stay(emulator):
    _, operands = emulator.run(Problem(pixels=10, between=8))
    assert operands.out.as_strided((9, 8), (72, 1), operands.out.storage_offset() + 64).isnan().all()
