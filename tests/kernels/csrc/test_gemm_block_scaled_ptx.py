"""The kernels of block-scaled numbers from the PTX that nvcc makes of them: run, and with mistakes in its text."""

import pytest
import torch
from emulated_block_scaled import Product, Rounding
from emulated_linear import judge
from ptx.block_scaled_launch import (
    ARCHITECTURE,
    ROWS_SOURCE,
    BlockScaledKernel,
    BlockScaledParams,
    multiply,
    quantize,
    rows_name,
)
from ptx.edits import Edit, replaced, shuffled, waits
from ptx.memory import MemoryFault
from ptx.program import PtxError, kernel_of
from ptx.quantize_launch import QuantizeParams
from ptx.structs import misread

from mezzotint_kernels.abi import Preparation
from mezzotint_kernels.block_scaled_abi import BlockFormat

pytestmark = pytest.mark.requires_command("g++", "sudo apt-get install g++")

FLOAT, BRAIN = torch.float16, torch.bfloat16
NVFP4, MXFP8 = BlockFormat.NVFP4, BlockFormat.MXFP8
FOUR = Product(format=NVFP4, dtype=FLOAT, depth=640, rows=65, gap=1)
EIGHT = Product(format=MXFP8, dtype=FLOAT, depth=384, rows=65)
PROBLEMS = (
    FOUR,
    EIGHT,
    Product(format=NVFP4, dtype=BRAIN, bias=True, gate=9, residual="given", rank=48),
    Product(format=MXFP8, dtype=BRAIN, row_scales=False, weight_scale=False, rank=16),
)
ROUNDINGS = (
    Rounding(format=NVFP4, columns=640, rows=7, gap=1, pattern="outliers"),
    Rounding(format=MXFP8, columns=640, rows=7, gap=1, pattern="outliers"),
    Rounding(format=NVFP4, dtype=BRAIN, preparation=Preparation.LAYER_NORM, columns=384, weights="wb"),
    Rounding(format=MXFP8, dtype=BRAIN, preparation=Preparation.GELU_TANH, columns=384),
)
SELECTORS = r"(kind::\w+\.block_scale.*\{%r\d+\}, \{)(%rs\d+), (%rs\d+)(\}, \{%r\d+\}, \{)(%rs\d+), (%rs\d+)(\};)"
PLANTED = {
    "scales of x by the thread of those of the weight": (Edit(SELECTORS, r"\1\2, \6\4\5, \6\7"), FOUR),
    "bytes and threads exchanged": (Edit(SELECTORS, r"\1\3, \2\4\5, \6\7"), EIGHT),
    "scales exchanged": (Edit(r"(block_scale.*)\{(%r\d+)\}, (\{[^}]*\}), \{(%r\d+)\}", r"\1{\4}, \3, {\2}"), FOUR),
    "tiles are not waited for": (waits(1, 2), FOUR),
}
PLANTED_ROWS = {
    "pairs the other way round": Edit(r"(cvt\.rn\.satfinite\.e2m1x2\.f32 pair), (%f\d+), (%f\d+)", r"\1, \3, \2"),
    "blocks over other lanes": shuffled(2),
    "smallest for largest": replaced("max.NaN.f32", "min.f32"),
}


def kernel_for(problem):
    return BlockScaledKernel(format=problem.format, dtype=problem.dtype)


def program_of(ptx, kernel, edit=lambda text: text):
    return kernel_of(edit(ptx(kernel.source, ARCHITECTURE, (kernel.instance,))), kernel.name)


def rows_program(ptx, problem, edit=lambda text: text):
    return kernel_of(edit(ptx(ROWS_SOURCE, ARCHITECTURE)), rows_name(problem))


@pytest.mark.parametrize("problem", PROBLEMS, ids=lambda each: f"{each.format.name} {each.dtype}")
def test_ptx_gives_what_the_reference_gives(ptx, problem):
    kernel = kernel_for(problem)
    error = judge(multiply(kernel, program_of(ptx, kernel), problem))
    assert error <= 1, f"the output is {error:.3g} times as far off as it may be"


@pytest.mark.parametrize("problem", ROUNDINGS, ids=lambda each: f"{each.format.name} {each.preparation.name}")
def test_ptx_rounds_as_the_reference_rounds(ptx, problem):
    assert quantize(rows_program(ptx, problem), problem).problems() == []


@pytest.mark.slow
def test_structs_are_those_that_the_kernels_read(ptx):
    assert misread(program_of(ptx, kernel_for(FOUR)), BlockScaledParams) == []
    assert misread(rows_program(ptx, ROUNDINGS[0]), QuantizeParams) == []


@pytest.mark.slow_after(2)
@pytest.mark.parametrize(("edit", "problem"), PLANTED.values(), ids=PLANTED.keys())
def test_planted_mistake_is_seen(ptx, edit, problem):
    kernel = kernel_for(problem)
    try:
        operands = multiply(kernel, program_of(ptx, kernel, edit), problem)
    except (PtxError, MemoryFault):
        return
    assert judge(operands) > 1


@pytest.mark.slow_after(1)
@pytest.mark.parametrize("edit", PLANTED_ROWS.values(), ids=PLANTED_ROWS.keys())
def test_planted_mistake_of_rounding_is_seen(ptx, edit):
    problem = ROUNDINGS[0]
    try:
        operands = quantize(rows_program(ptx, problem, edit), problem)
    except (PtxError, MemoryFault):
        return
    assert operands.problems()
