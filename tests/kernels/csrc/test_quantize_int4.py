"""The kernels that quantize rows to 4 bits on the emulator: the scale that they choose, and what they pack."""

import random

import pytest
import torch
from emulated_quantize import NORMS, SHARES, UNTOUCHED, Problem, QuantizeEmulator, judge, unpacked

from mezzotint.quantization.int4 import INPUT_SHARES, clipped_rows, pack
from mezzotint_kernels.abi import Preparation

pytestmark = pytest.mark.requires_command("g++", "sudo apt-get install g++")

DTYPES = (torch.float16, torch.bfloat16)
PATTERNS = ("normal", "offset", "outliers", "zeros", "integers", "large")
COLUMNS = (32, 64, 256, 288, 320, 640, 1152, 3072)
FUZZED = 6  # of each preparation and format


@pytest.fixture
def emulator(emulated):
    return QuantizeEmulator(emulated)


def fuzzed(preparation, dtype, number):
    """A problem with that preparation; the same in every run."""
    lots = random.Random(f"{preparation} {dtype} {number}")
    columns, rows = lots.choice(COLUMNS), lots.choice((1, 3, 5, 17))
    return Problem(
        bits=4,
        rows=rows,
        columns=columns,
        group=lots.choice([group for group in (0, 16, 64, 256) if not group or columns % group == 0]),
        dtype=dtype,
        preparation=preparation,
        weights=lots.choice(("", "wb")) if preparation in NORMS else "",
        rows_per_batch=lots.choice((0, 3)),
        gap=lots.choice((0, 1)),
        pattern=PATTERNS[number % len(PATTERNS)],
        epsilon=1e-6,
        turing=number % 2 == 1,
        seed=number,
    )


HARD = {
    "32 columns": Problem(bits=4, rows=1, columns=32),
    "the widest row": Problem(bits=4, rows=2, columns=16384, group=256, preparation=Preparation.LAYER_NORM),
    "an odd number of teams": Problem(bits=4, rows=14, columns=2304, group=256, preparation=Preparation.SILU),
    "far outliers": Problem(bits=4, rows=9, columns=1152, pattern="outliers"),
    "two halves": Problem(bits=4, rows=5, columns=640, group=64, preparation=Preparation.GEGLU),
    "no columns": Problem(bits=4, rows=3, columns=0),
}


@pytest.mark.parametrize("dtype", DTYPES, ids=["float16", "bfloat16"])
@pytest.mark.parametrize("preparation", Preparation, ids=lambda each: each.name.lower())
def test_fuzzed_problems(emulator, preparation, dtype):
    for number in range(FUZZED):
        problem = fuzzed(preparation, dtype, number)
        verdict = emulator.run(problem)
        assert verdict.right, f"{verdict.error} {verdict.scales:.3g} {verdict.values:.3g}: {problem}"


@pytest.mark.parametrize("problem", HARD.values(), ids=HARD.keys())
def test_hard_problem(emulator, problem):
    verdict = emulator.run(problem)
    assert verdict.right, f"{verdict.error} {verdict.scales:.3g} {verdict.values:.3g}"


def test_engine_s_reference_gives_the_same(emulator):
    """Scales and packed integers of rows that need neither preparation nor rotation."""
    assert SHARES == INPUT_SHARES
    operands = emulator.run(Problem(bits=4, rows=40, columns=640)).operands
    codes, scales = clipped_rows(operands.x.float(), INPUT_SHARES)
    assert torch.allclose(operands.scales, scales, rtol=1e-6)
    assert float((pack(codes) != operands.values.view(torch.uint8)).float().mean()) < 1e-3


def test_every_share_is_taken(emulator):
    """Rows with far numbers clip nothing, and even ones clip the most."""
    operands = emulator.run(Problem(bits=4, rows=40, columns=1152, pattern="outliers")).operands
    more = emulator.run(Problem(bits=4, rows=40, columns=3072)).operands
    few = emulator.run(Problem(bits=4, rows=40, columns=64)).operands
    shares = [
        (7 * each.scales / each.x.float().abs().amax(dim=1, keepdim=True)).flatten() for each in (operands, more, few)
    ]
    assert {min(SHARES, key=lambda share: abs(share - float(each))) for each in torch.cat(shares)} == set(SHARES)


def test_both_ends_are_reached_and_no_number_leaves_its_half(emulator):
    integers = unpacked(emulator.run(Problem(bits=4, rows=40, columns=3072)).operands.values)
    assert {int(each) for each in integers.unique()} == set(range(-8, 8))


@pytest.mark.parametrize("broken", [float("nan"), float("inf")], ids=str)
def test_a_number_that_is_none_shows_in_its_row_s_scale(emulator, broken):
    problem = Problem(bits=4, rows=20, columns=512, group=64)
    seen = emulator.run(problem, spoil=lambda operands: operands.x[11].index_fill_(0, torch.tensor(300), broken))
    scales = seen.operands.scales.flatten()
    assert [row for row in range(20) if not bool(scales[row].isfinite())] == [11]


def test_order_of_warps_does_not_matter(emulator):
    problem = Problem(bits=4, rows=11, columns=3072, group=256, preparation=Preparation.LAYER_NORM)
    first, *others = (emulator.run(problem, order=order).operands for order in (1, 2, 3))
    for other in others:
        assert torch.equal(first.values, other.values)
        assert torch.equal(first.scales, other.scales)


def test_a_wrong_answer_is_seen(emulator):
    operands = emulator.run(Problem(bits=4, rows=12, columns=320, gap=1, group=64)).operands
    assert judge(operands).right
    operands.values[7, 13] ^= 1
    assert not judge(operands).right
    operands.values[7, 13] ^= 1
    operands.scales[3] *= 0.85
    assert not judge(operands).right
    operands.scales[3] /= 0.85
    operands.values.as_strided((1,), (1,), operands.values.storage_offset() + 160)[0] = UNTOUCHED + 1
    assert not judge(operands).right
