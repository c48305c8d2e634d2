"""The kernels that round rows to MXFP8 and NVFP4 on the emulator, compared bit by bit with plain torch."""

import random

import pytest
import torch
from emulated_block_scaled import BlockScaledEmulator, Rounding, dequantized
from emulated_quantize import NORMS

from mezzotint.quantization.block_floats import Mxfp8, Nvfp4
from mezzotint_kernels.abi import Preparation
from mezzotint_kernels.block_scaled_abi import BlockFormat

pytestmark = pytest.mark.requires_command("g++", "sudo apt-get install g++")

DTYPES = (torch.float16, torch.bfloat16)
PATTERNS = ("normal", "outliers", "zeros", "integers", "tiny", "large")
COLUMNS = (128, 256, 384, 640, 1152, 3072)


@pytest.fixture
def emulator(emulated):
    return BlockScaledEmulator(emulated)


def fuzzed(format_, preparation, dtype, number):
    """A problem with that preparation; the same in every run."""
    lots = random.Random(f"{format_} {preparation} {dtype} {number}")
    return Rounding(
        format=format_,
        rows=lots.choice((1, 3, 5, 17)),
        columns=lots.choice(COLUMNS),
        dtype=dtype,
        preparation=preparation,
        weights=lots.choice(("", "wb")) if preparation in NORMS else "",
        rows_per_batch=lots.choice((0, 3)),
        gap=lots.choice((0, 1)),
        pattern=PATTERNS[number % len(PATTERNS)],
        epsilon=1e-6,
        seed=number,
    )


@pytest.mark.parametrize("dtype", DTYPES, ids=["float16", "bfloat16"])
@pytest.mark.parametrize("preparation", Preparation, ids=lambda each: each.name.lower())
@pytest.mark.parametrize("format_", BlockFormat)
def test_fuzzed_problems(emulator, format_, preparation, dtype):
    for number in range(len(PATTERNS)):
        problem = fuzzed(format_, preparation, dtype, number)
        operands, error = emulator.quantize(problem)
        assert (error, operands.problems()) == ("", []), problem


HARD = {
    "128 columns": {"rows": 1, "columns": 128},
    "the widest row": {"rows": 2, "columns": 16384, "preparation": Preparation.LAYER_NORM},
    "far outliers": {"rows": 9, "columns": 1152, "pattern": "outliers"},
    "the smallest numbers": {"rows": 4, "dtype": torch.bfloat16, "pattern": "tiny"},
    "no columns": {"rows": 3, "columns": 0, "preparation": Preparation.SILU},
}


@pytest.mark.parametrize("format_", BlockFormat)
@pytest.mark.parametrize("changes", HARD.values(), ids=HARD.keys())
def test_hard_problem(emulator, format_, changes):
    operands, error = emulator.quantize(Rounding(format=format_, **changes))
    assert error == ""
    assert not changes.get("columns", 1) or operands.problems() == []


def relative_error(emulator, format_, pattern):
    operands, _ = emulator.quantize(Rounding(format=format_, rows=40, columns=3072, pattern=pattern))
    ours = dequantized(operands.values.view(torch.uint8), operands.block_scales, format_)
    ours *= operands.scales.double() if format_ is BlockFormat.NVFP4 else 1
    x = operands.x.double()
    return float((ours - x).norm() / x.norm())


@pytest.mark.parametrize("pattern", ["normal", "outliers"])
def test_a_scale_for_each_row_is_as_good_as_one_for_the_tensor(emulator, pattern):
    """Which would need another pass over the tensor; the engine's formats of weights have that."""
    for format_, engines in ((BlockFormat.NVFP4, Nvfp4()), (BlockFormat.MXFP8, Mxfp8())):
        operands, _ = emulator.quantize(Rounding(format=format_, rows=40, columns=3072, pattern=pattern))
        x = operands.x.float()
        whole = engines.dequantize(engines.quantize(x), x.shape, torch.float32)
        theirs = float((whole - x).norm() / x.norm())
        assert relative_error(emulator, format_, pattern) <= 1.01 * theirs


def test_errors_are_those_of_the_formats(emulator):
    assert 0.08 < relative_error(emulator, BlockFormat.NVFP4, "normal") < 0.1
    assert 0.02 < relative_error(emulator, BlockFormat.MXFP8, "normal") < 0.03


@pytest.mark.parametrize("broken", [float("nan"), float("inf")], ids=str)
@pytest.mark.parametrize("format_", BlockFormat)
def test_a_number_that_is_none_shows_in_its_scale(emulator, format_, broken):
    problem = Rounding(format=format_, rows=20, columns=512)
    operands, _ = emulator.quantize(problem, lambda operands: operands.x[11, 300:301].fill_(broken))
    if format_ is BlockFormat.NVFP4:
        seen = (~operands.scales[:, 0].isfinite()).nonzero().flatten().tolist()
    else:
        seen = (operands.block_scales == 255).nonzero().tolist()
    assert seen == ([11] if format_ is BlockFormat.NVFP4 else [[11, 300 // 32]])


def test_a_wrong_answer_is_seen(emulator):
    operands, _ = emulator.quantize(Rounding(rows=12, columns=384, gap=1))
    assert operands.problems() == []
    operands.values[7, 13] ^= 2
    assert "numbers" in operands.problems()
    operands.values[7, 13] ^= 2
    operands.block_scales[3, 2] += 1
    assert "block scales" in operands.problems()
    operands.block_scales[3, 2] -= 1
    operands.scales[5] *= 1.01
    assert "row scales" in operands.problems()
