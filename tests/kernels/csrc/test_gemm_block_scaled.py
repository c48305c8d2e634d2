"""Products of MXFP8 and NVFP4 numbers on the emulator, compared with exact sums."""

import random

import pytest
import torch
from emulated_block_scaled import BlockScaledEmulator, Product, ProductOperands
from emulated_instances import in_turn

from mezzotint_kernels.block_scaled_abi import BlockFormat, BlockScaledLinearArgs

pytestmark = pytest.mark.requires_command("g++", "sudo apt-get install g++")

DTYPES = (torch.float16, torch.bfloat16)
ENDS = (
    {},
    {"bias": True, "row_scales": False},
    {"rank": 16, "weight_scale": False},
    {"gate": 7, "residual": "given"},
    {"bias": True, "gate": 50, "residual": "out"},
    {"bias": True, "rank": 80},
)
INT32_MAX = 2**31 - 1
RTX_5090 = {"multiprocessors": 170, "shared_bytes": 101376}


@pytest.fixture
def emulator(emulated):
    return BlockScaledEmulator(emulated)


def fuzzed(dtype, format_, number, end):
    """A problem with that end; the same in every run."""
    lots = random.Random(f"{dtype} {format_} {number}")
    return Product(
        format=format_,
        dtype=dtype,
        rows=lots.choice((1, 2, 17, 64, 65, 129, 260)),
        columns=lots.choice((8, 24, 72, 128, 136)),
        depth=lots.choice((128, 256, 384, 640)),
        gap=lots.choice((0, 0, 1, 3)),
        late_copies=lots.random() < 0.7,
        stubborn=number % 4 == 0,
        seed=number,
        **end,
    )


FUZZED = [
    fuzzed(dtype, format_, number, end)
    for dtype in DTYPES
    for format_ in BlockFormat
    for number, end in enumerate(ENDS)
]


@pytest.fixture(scope="module")
def choice(quick_library):
    """For each problem a kernel, so that all have their turn."""
    emulator = BlockScaledEmulator(quick_library)
    return in_turn({problem: emulator.numbers(problem) for problem in FUZZED})


def check(emulator, problem, number):
    verdict = emulator.multiply(problem, number)
    assert verdict.error == ""
    assert verdict.output <= 1
    assert verdict.bank_conflicts == 0
    return verdict


@pytest.mark.parametrize(
    "problem", FUZZED, ids=lambda each: f"{each.format.name} {each.rows}x{each.depth}x{each.columns}"
)
def test_fuzzed_problem(emulator, choice, problem):
    check(emulator, problem, choice[problem])


def test_fuzzed_problems_leave_nothing_out(emulator, choice):
    assert set(choice.values()) == set(range(len(emulator.instances)))


@pytest.mark.parametrize("format_", BlockFormat)
def test_every_number_comes_out_exactly(emulator, format_):
    """The identity on one side lets the numbers of the other come out, unrounded and each in its place."""
    left = Product(format=format_, rows=128, depth=128, columns=136, pattern="x")
    right = Product(format=format_, rows=136, depth=128, columns=128, pattern="weight")
    distinct = 15 if format_ is BlockFormat.NVFP4 else 200
    assert len(ProductOperands(left).codes.unique()) > distinct
    for number in emulator.numbers(left):
        verdict = check(emulator, left, number)
        assert torch.equal(verdict.out.double(), verdict.operands.codes.T)
        verdict = check(emulator, right, number)
        assert torch.equal(verdict.out.double(), verdict.operands.x)


HARD = {
    "one row, eight columns": {"rows": 1, "columns": 8},
    "no columns of x": {"depth": 0, "bias": True, "residual": "given"},
    "many tiles deep": {"depth": 3200, "rows": 20, "columns": 40},
    "full tiles": {"rows": 256, "columns": 128, "depth": 384},
    "rows far apart": {"gap": 50, "rank": 16, "gate": 9, "residual": "given"},
}


@pytest.mark.parametrize("format_", BlockFormat)
@pytest.mark.parametrize("changes", HARD.values(), ids=HARD.keys())
def test_hard_problem(emulator, format_, changes):
    problem = Product(format=format_, **changes)
    for number in emulator.numbers(problem)[-1:]:
        check(emulator, problem, number)


@pytest.mark.parametrize("format_", BlockFormat)
def test_nothing_is_multiplied_twice(emulator, format_):
    """Products of 16 x 8 x 64 in 4 bits, of 16 x 8 x 32 in 8."""
    problem = Product(format=format_, rows=256, columns=128, depth=256)
    for number in emulator.numbers(problem):
        products = 256 * 128 * 256 // (8192 if format_ is BlockFormat.NVFP4 else 4096)
        assert check(emulator, problem, number).products == products


@pytest.mark.parametrize("format_", BlockFormat)
def test_not_a_number_shows(emulator, format_):
    """Scales that are none reach the rows that they belong to, and those alone."""
    problem = Product(format=format_, rows=20, columns=16, depth=128)
    number = emulator.numbers(problem)[0]

    def spoil(operands):
        operands.x_block_scales[11, 3] = 127 if format_ is BlockFormat.NVFP4 else 255

    out = emulator.multiply(problem, number, spoil).out
    assert out.isnan().any(dim=1).nonzero().flatten().tolist() == [11]


def arguments(rows, columns, format_=BlockFormat.NVFP4):
    made = BlockScaledLinearArgs(format=format_)
    made.linear.rows, made.linear.in_columns, made.linear.out_columns = rows, 3072, columns
    return made


def test_large_products_get_large_tiles_and_small_ones_small(emulator):
    assert emulator.plan(arguments(4608, 12288), **RTX_5090)[1] == "linear nvfp4 float16 256x128"
    assert emulator.plan(arguments(512, 3072, BlockFormat.MXFP8), **RTX_5090)[1] == "linear mxfp8 float16 128x64"


def test_what_has_no_kernel_says_so(emulator):
    number, text = emulator.plan(arguments(4608, 3072), multiprocessors=170, shared_bytes=32768)
    assert (number, text) == (-1, "no product of nvfp4 in float16 with 32768 bytes of shared memory")
    number, text = emulator.plan(arguments(INT32_MAX, 100000), **RTX_5090)
    assert number == -1
    assert "more than a card's grid of blocks takes" in text


def test_scales_of_a_half_warp_are_at_different_banks():
    """Of 32 banks of 4 bytes, for lanes that read 8 bytes at once, 16 of them (scale_tiles.h)."""
    rows = [lane // 4 + lane % 2 * 8 + lane % 4 // 2 * 16 for lane in range(32)]
    for half in (rows[:16], rows[16:]):
        assert len({(row ^ (row >> 2 & 4)) % 16 for row in half}) == 16
    assert len({row ^ (row >> 2 & 4) for row in range(256)}) == 256
