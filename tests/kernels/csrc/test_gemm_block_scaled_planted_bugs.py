"""Mistakes planted in the kernels of block-scaled numbers, one at a time: each must be seen on the emulator."""

import pytest
from emulated_block_scaled import BlockScaledEmulator, Product, Rounding
from emulator_build import build, copy_sources
from planted_bugs import Bug

from mezzotint_kernels.block_scaled_abi import BlockFormat

pytestmark = [pytest.mark.requires_command("g++", "sudo apt-get install g++"), pytest.mark.slow]

INSTANCE = "block_scaled/float16"
SHAPE = "Shape128x64"  # the only one that is built here
NVFP4, MXFP8 = BlockFormat.NVFP4, BlockFormat.MXFP8
DEEP = tuple(
    Product(format=each, depth=640, rows=65, late_copies=late) for each in BlockFormat for late in (False, True)
)
FOUR, EIGHT = Product(format=NVFP4, depth=384), Product(format=MXFP8, depth=384)
ENDS = Product(format=NVFP4, bias=True)

KERNEL, PRODUCTS, SCALES = (f"gemm/block_scaled/{name}.h" for name in ("kernel", "products", "scale_tiles"))
ROUND = "quantize/block_scaled/round.h"

BUGS = {
    "no barrier before a tile is multiplied": Bug(
        file=KERNEL,
        text="            barrier();  // this tile is there for all, and all are done with the one before\n",
        becomes="",
        problems=DEEP,
    ),
    "tiles are not waited for": Bug(
        file=KERNEL,
        text="            wait_copies<Architecture, T::stages - 2>();\n        }\n",
        becomes="            wait_copies<Architecture, T::stages - 1>();\n        }\n",
        problems=DEEP,
    ),
    "a tile takes the place of one that is multiplied": Bug(
        file=KERNEL, text="begin(tile + T::stages - 1);", becomes="begin(tile + T::stages);", problems=DEEP
    ),
    "scales of the first tile for all": Bug(
        file=SCALES,
        text="T::format == MZT_NVFP4 ? tile * 8 :",
        becomes="T::format == MZT_NVFP4 ? 0 :",
        problems=(FOUR,),
    ),
    "four scales for one tile of 8 bits": Bug(
        file=SCALES, text="tile / 2 * 4", becomes="tile * 2 / 4 * 4 + 4", problems=(EIGHT,)
    ),
    "scales of rows beyond the last": Bug(
        file=SCALES, text="row < rows_left_", becomes="row <= rows_left_", problems=(Product(rows=63, gap=0),)
    ),
    "scales lie elsewhere than they are read": Bug(
        file=SCALES,
        text="scales + place_of_scales(column + pair * 16)",
        becomes="scales + (column + pair * 16)",
        problems=(FOUR,),
    ),
    "scales of rows 8 further exchanged": Bug(
        file=SCALES,
        text="lane / 4 + lane % 2 * 8 + lane % 4 / 2 * 16",
        becomes="lane / 4 + lane % 4 / 2 * 8 + lane % 2 * 16",
        problems=(FOUR, EIGHT),
    ),
    "scales of the other tile of rows": Bug(
        file=PRODUCTS, text="a_lane = m % 2, b_lane = n % 2", becomes="a_lane = 0 * m, b_lane = n % 2", problems=(FOUR,)
    ),
    "scales of the other tile of columns": Bug(
        file=PRODUCTS,
        text="a_lane = m % 2, b_lane = n % 2",
        becomes="a_lane = m % 2, b_lane = 0 * n",
        problems=(EIGHT,),
    ),
    "the first block's scale for both of a tile": Bug(
        file=PRODUCTS, text="static_cast<uint16_t>(step)", becomes="static_cast<uint16_t>(0)", problems=(EIGHT,)
    ),
    "scales of the first step for both": Bug(
        file=PRODUCTS, text="a_scales[step], b_scales[step]", becomes="a_scales[0], b_scales[step]", problems=(FOUR,)
    ),
    "an odd tile has the scales of the even one": Bug(
        file=PRODUCTS, text="    take_half<T>(b_scales, number);\n", becomes="", problems=(EIGHT,)
    ),
    "no scale of the whole weight": Bug(
        file=KERNEL, text="params.weight_scale ? *params.weight_scale : 1", becomes="1", problems=(FOUR,)
    ),
    "the row's scale for the bias, too": Bug(
        file=KERNEL,
        text="sums[m][n][each] * scales[m][each / 2] + bias[each % 2]",
        becomes="(sums[m][n][each] + bias[each % 2]) * scales[m][each / 2]",
        problems=(ENDS,),
    ),
    "the scale of the row above": Bug(
        file=KERNEL, text="scales[m][each / 2]", becomes="scales[m][0]", problems=(FOUR,)
    ),
}

ROWS = tuple(Rounding(format=each, columns=640, rows=9, pattern="outliers") for each in BlockFormat)
ROUNDING_BUGS = {
    "a block of half the lanes": Bug(
        file=ROUND, text="largest_of_block<2>(y)", becomes="largest_of_block<1>(y)", problems=ROWS
    ),
    "a block of twice the lanes": Bug(
        file=ROUND, text="largest_of_block<4>(x[chunk])", becomes="largest_of_block<8>(x[chunk])", problems=ROWS
    ),
    "a power of two too small where numbers exceed it": Bug(file=ROUND, text="0x1fffffu", becomes="0u", problems=ROWS),
    "a power of two too large where they just do not": Bug(
        file=ROUND,
        text="0x1fffffu",
        becomes="0x200000u",
        problems=(Rounding(format=MXFP8, pattern="integers", columns=640, rows=20),),
    ),
    "numbers divided by the scale before it was rounded": Bug(
        file=ROUND,
        text="1 / value_of_e4m3(scale)",
        becomes="kLargestE2m1 / largest_of_block<2>(y)",
        problems=ROWS,
    ),
    "pairs the other way round": Bug(
        file=ROUND,
        text="e2m1_pair(y[2 * pair] * by, y[2 * pair + 1] * by)",
        becomes="e2m1_pair(y[2 * pair + 1] * by, y[2 * pair] * by)",
        problems=ROWS,
    ),
    "the row's scale without the blocks'": Bug(
        file=ROUND, text="largest / (kLargestE2m1 * kLargestE4m3)", becomes="largest / kLargestE2m1", problems=ROWS
    ),
    "scales of blocks a row further": Bug(file=ROUND, text="column / 16] =", becomes="column / 32] =", problems=ROWS),
}


class _Seen:
    """What a run found, as planted bugs ask for it."""

    def __init__(self, problems: list[str]) -> None:
        self.right, self.error = not problems, ", ".join(problems)


def multiplied(emulator, problems):
    for problem in problems:
        for number in emulator.numbers(problem):
            verdict = emulator.multiply(problem, number)
            yield _Seen([*([verdict.error] if verdict.error else []), *([] if verdict.output <= 1 else ["output"])])


def rounded(emulator, problems):
    for problem in problems:
        operands, error = emulator.quantize(problem)
        yield _Seen([*([error] if error else []), *operands.problems()])


@pytest.mark.parametrize("bug", BUGS.values(), ids=BUGS.keys())
def test_planted_bug_is_seen(bug, tmp_path):
    sources = copy_sources(tmp_path / "kernels", [INSTANCE], lambda line: SHAPE in line)
    bug.plant(sources)
    bug.check_seen(list(multiplied(BlockScaledEmulator(build(sources)), bug.problems)))


@pytest.mark.parametrize("bug", ROUNDING_BUGS.values(), ids=ROUNDING_BUGS.keys())
def test_planted_bug_of_rounding_is_seen(bug, tmp_path):
    sources = copy_sources(tmp_path / "kernels")
    bug.plant(sources)
    bug.check_seen(list(rounded(BlockScaledEmulator(build(sources)), bug.problems)))


def test_without_a_bug_nothing_is_seen(tmp_path):
    emulator = BlockScaledEmulator(build(copy_sources(tmp_path / "kernels", [INSTANCE], lambda line: SHAPE in line)))
    products = {problem for bug in BUGS.values() for problem in bug.problems}
    rows = {problem for bug in ROUNDING_BUGS.values() for problem in bug.problems}
    seen = [*multiplied(emulator, products), *rounded(emulator, rows)]
    assert len(seen) == len(products) + len(rows)
    assert all(each.right for each in seen)
