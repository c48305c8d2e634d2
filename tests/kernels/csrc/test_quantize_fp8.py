"""The kernels that quantize rows to 8-bit floats on the emulator: their scales, and the floats that torch rounds to."""

import random

import pytest
import torch
from emulated_quantize import NORMS, UNTOUCHED, Problem, QuantizeEmulator, judge

from mezzotint.quantization.fp8 import quantize_fp8_rows
from mezzotint_kernels.abi import Preparation

pytestmark = pytest.mark.requires_command("g++", "sudo apt-get install g++")

DTYPES = (torch.float16, torch.bfloat16)
PATTERNS = ("normal", "offset", "outliers", "zeros", "integers", "large", "tiny")
COLUMNS = (16, 48, 256, 272, 320, 640, 1152, 3072)
FUZZED = 4  # of each preparation and format


@pytest.fixture
def emulator(emulated):
    return QuantizeEmulator(emulated)


def fuzzed(preparation, dtype, number):
    """A problem with that preparation; the same in every run."""
    lots = random.Random(f"{preparation} {dtype} {number}")
    columns, rows = lots.choice(COLUMNS), lots.choice((1, 3, 5, 17))
    return Problem(
        floats=True,
        rows=rows,
        columns=columns,
        group=lots.choice([group for group in (0, 16, 64, 256) if not group or columns % group == 0]),
        dtype=dtype,
        preparation=preparation,
        weights=lots.choice(("", "wb")) if preparation in NORMS else "",
        rows_per_batch=lots.choice((0, 3)),
        gap=lots.choice((0, 1)),
        pattern=PATTERNS[number % len(PATTERNS)],
        seed=number,
    )


HARD = {
    "16 columns": Problem(floats=True, rows=1, columns=16),
    "the widest row": Problem(floats=True, rows=2, columns=16384, group=256, preparation=Preparation.LAYER_NORM),
    "far outliers": Problem(floats=True, rows=9, columns=1152, pattern="outliers"),
    "faint numbers": Problem(floats=True, rows=9, columns=320, pattern="tiny"),
    "two halves": Problem(floats=True, rows=5, columns=640, group=64, preparation=Preparation.GEGLU),
    "no columns": Problem(floats=True, rows=3, columns=0),
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


@pytest.mark.parametrize("pattern", ["normal", "outliers", "zeros", "large"])
def test_engine_s_reference_gives_the_same_bits(emulator, pattern):
    """Of rows that need neither preparation nor rotation."""
    operands = emulator.run(Problem(floats=True, rows=20, columns=640, pattern=pattern)).operands
    floats, scales = quantize_fp8_rows(operands.x.float())
    assert torch.equal(floats.view(torch.int8), operands.values)
    assert torch.equal(scales, operands.scales)


def test_every_float_is_reached(emulator):
    """All magnitudes from subnormal ones to the largest, with both signs."""
    steps = torch.arange(-112, 112) / 8

    def spoil(operands):
        operands.x.copy_((2.0**steps).repeat(2)[:448] * torch.tensor([1.0, -1.0]).repeat(224))
        operands.x[:, 0] = 2.0**14 * 448 / 256

    operands = emulator.run(Problem(floats=True, rows=1, columns=448, dtype=torch.bfloat16), spoil=spoil).operands
    floats = operands.values.view(torch.float8_e4m3fn).float().abs()
    assert float(floats.max()) == 448
    assert int((floats < 2.0**-6).sum()) > 50  # subnormal, and zeros
    assert judge(operands).right


@pytest.mark.parametrize("broken", [float("nan"), float("inf")], ids=str)
def test_a_number_that_is_none_shows_in_its_row_s_scale(emulator, broken):
    problem = Problem(floats=True, rows=20, columns=512, group=64)
    seen = emulator.run(problem, spoil=lambda operands: operands.x[11].index_fill_(0, torch.tensor(300), broken))
    scales = seen.operands.scales.flatten()
    assert [row for row in range(20) if not bool(scales[row].isfinite())] == [11]


def test_a_wrong_answer_is_seen(emulator):
    operands = emulator.run(Problem(floats=True, rows=12, columns=320, gap=1, group=64)).operands
    assert judge(operands).right
    operands.values[7, 13] ^= 1
    assert not judge(operands).right
    operands.values[7, 13] ^= 1
    operands.scales[3] *= 0.99
    assert not judge(operands).right
    operands.scales[3] /= 0.99
    operands.values.as_strided((1,), (1,), operands.values.storage_offset() + 320)[0] = UNTOUCHED + 1
    assert not judge(operands).right
