"""Mistakes that kernels of this kind are made with, planted one at a time: each must be seen on the emulator."""

import pytest
from emulated_linear import LinearEmulator, Problem
from emulator_build import build, copy_sources
from planted_bugs import Bug

from mezzotint_kernels.abi import Activation

pytestmark = [pytest.mark.requires_command("g++", "sudo apt-get install g++"), pytest.mark.slow]

SHAPE = "Shape64x64"  # the only one that is built here
DEEP = tuple(Problem(depth=448, rows=65, late_copies=late) for late in (False, True))
PACKED = tuple(Problem(depth=448, rows=65, bits=4, late_copies=late) for late in (False, True))
TURING = tuple(Problem(depth=320, bits=bits, turing=True) for bits in (8, 4))
INT4 = Problem(depth=448, rows=65, bits=4, x_bits=4)
INT4_TURING = Problem(depth=448, rows=65, bits=4, x_bits=4, turing=True)
INT4_HOPPER = Problem(depth=448, rows=65, bits=4, x_bits=4, hopper=True)
CODED = Problem(depth=448, rows=65, bits=4, codebook=True)
GROUPED = tuple(
    Problem(depth=depth, rows=65, bits=4, x_bits=4, by_group=True, late_copies=late)
    for depth in (448, 320)
    for late in (False, True)
)
GROUPED_HOPPER = Problem(depth=448, rows=65, bits=4, x_bits=4, by_group=True, hopper=True)
RAGGED = Problem(rows=70, columns=72, depth=80, gap=1)
BRANCH = tuple(Problem(rank=rank, depth=64, late_copies=late) for rank in (48, 160) for late in (False, True))
FLOATS = Problem(depth=448, rows=65, floats=True)
FLOATS_DEEP = Problem(depth=3200, rows=20, columns=40, floats=True, pattern="positive")
FLOATS_SHARED = Problem(depth=64, floats=True, shared_scale=True)
ACTIVATED = Problem(activation=Activation.ACTIVATE_GELU_TANH, gate=9)
GATED = Problem(activation=Activation.GATED_SILU, depth=448, rows=65, bias=True, columns=40)
SPLIT = Problem(splits=3, depth=448, rows=65, bias=True)
CONVOLVED = tuple(Problem(image=(8, 9, 1), rows=144, columns=40, depth=128, late_copies=late) for late in (False, True))
STRIDED = Problem(image=(7, 6, 2), rows=24, columns=40, depth=64)
CONVOLVED_TURING = Problem(image=(9, 8, 1), rows=72, columns=40, depth=128, turing=True)
GATED_GELU = Problem(activation=Activation.GATED_GELU, depth=80)
ENDS = Problem(bias=True, gate=9, residual="given")

FLOAT_PRODUCTS = "gemm/fp8_products.h"
SPLITS = "gemm/split.h"
GATES = "gemm/gated.h"
CONVOLUTIONS, PIXELS = "gemm/convolution.h", "gemm/pixel_tiles.h"
MAINLOOP, PRODUCTS, ROWS = "gemm/mainloop.h", "gemm/products.h", "gemm/row_tiles.h"
CODES = "gemm/codebook.h"
GROUPS, SCALES = "gemm/grouped.h", "gemm/scale_tiles.h"
TILES, BRANCHES, EPILOGUE, KERNEL = "gemm/packed_tiles.h", "gemm/branch.h", "gemm/epilogue.h", "gemm/kernel.h"


BUGS = {
    "no barrier before a tile is multiplied": Bug(
        file=MAINLOOP,
        text="            barrier();  // this tile is there for all, and all are done with the one before\n",
        becomes="",
        problems=DEEP,
    ),
    "tiles are not waited for": Bug(
        file=MAINLOOP,
        text="wait_copies<Architecture, T::stages - 2>()",
        becomes="wait_copies<Architecture, T::stages - 1>()",
        problems=DEEP,
    ),
    "packed weights are not waited for": Bug(
        file=MAINLOOP,
        text="wait_copies<Architecture, T::stages - 2>()",
        becomes="wait_copies<Architecture, T::stages - 1>()",
        problems=PACKED,
    ),
    "a tile takes the place of one that is multiplied": Bug(
        file=MAINLOOP,
        text="begin(tile + T::stages - 1);",
        becomes="begin(tile + T::stages);",
        problems=DEEP,
    ),
    "the last tile is left out where it is ragged": Bug(
        file=MAINLOOP,
        text="(params.in_bytes + kTileDepth - 1) / kTileDepth",
        becomes="params.in_bytes / kTileDepth",
        problems=(RAGGED,),
    ),
    "by group: no barrier before a tile is multiplied": Bug(
        file=GROUPS,
        text="            barrier();  // this tile is there for all, and all are done with the one before\n",
        becomes="",
        problems=GROUPED,
    ),
    "by group: tiles are not waited for": Bug(
        file=GROUPS,
        text="wait_copies<Architecture, T::stages - 2>()",
        becomes="wait_copies<Architecture, T::stages - 1>()",
        problems=GROUPED,
    ),
    "by group: the first group's scales for both": Bug(
        file=GROUPS, text="scales_.x_at(tile, group)", becomes="scales_.x_at(tile, 0)", problems=GROUPED
    ),
    "by group: the weight's scales of the other group": Bug(
        file=GROUPS,
        text="scales_.weight_at(tile, group)",
        becomes="scales_.weight_at(tile, 1 - group)",
        problems=GROUPED,
    ),
    "by group: rows of scales exchanged": Bug(
        file=GROUPS, text="of_rows[each / 2]", becomes="of_rows[1 - each / 2]", problems=GROUPED
    ),
    "by group: columns of scales exchanged": Bug(
        file=GROUPS, text="each % 2 ? right : left)", becomes="each % 2 ? left : right)", problems=GROUPED
    ),
    "by group: scales of the last tile stay": Bug(
        file=SCALES, text="tile % T::stages * T::scales_bytes", becomes="tile % 1 * T::scales_bytes", problems=GROUPED
    ),
    "by group: a group too many is read": Bug(
        file=SCALES,
        text="group < groups &&",
        becomes="group <= groups &&",
        problems=GROUPED,
    ),
    "by group: scales beyond the last row are read": Bug(
        file=SCALES,
        text="index < (is_x ? params_.rows : params_.out_columns)",
        becomes="index <= (is_x ? params_.rows + 3 : params_.out_columns)",
        problems=GROUPED,
    ),
    "by group: integers begin elsewhere": Bug(
        file=GROUPS, text="kFloatOffset = 12582912.0f", becomes="kFloatOffset = 12582913.0f", problems=GROUPED
    ),
    "by group: sixteenfold integers on Hopper": Bug(
        file=GROUPS, text="1.0f / (1 << Plain::sum_shift)", becomes="1.0f", problems=(GROUPED_HOPPER,)
    ),
    "columns beyond the last are multiplied": Bug(
        file=ROWS,
        text="const bool inside = tile * kTileDepth < columns_left_;",
        becomes="const bool inside = tile * kTileDepth < columns_left_ + 16;",
        problems=(RAGGED,),
    ),
    "a row too many": Bug(
        file=ROWS,
        text="inside && i * down < rows_left_)",
        becomes="inside && i * down <= rows_left_)",
        problems=(RAGGED,),
        error="memory outside of the tensors",
    ),
    "Turing writes a tile before it is read": Bug(
        file=ROWS,
        text="store_shared16(mine(tile) + i * down * kTileDepth, held_[i])",
        becomes="store_shared16(mine(tile + 1) + i * down * kTileDepth, held_[i])",
        problems=TURING[:1],
    ),
    "scales of the group before": Bug(
        file=TILES, text="scales_ + tile * (", becomes="scales_ + (tile > 0 ? tile - 1 : 0) * (", problems=PACKED
    ),
    "even and odd numbers change places": Bug(file=TILES, text="0x5140", becomes="0x1504", problems=PACKED),
    "a scale that leaves its byte": Bug(
        file=TILES,
        text="0x80808080u - scale * 0x08080808u",
        becomes="0x80808080u - scale * 0x07080808u",
        problems=PACKED,
    ),
    "the wider half goes to the wrong chunk": Bug(
        file=TILES, text="ByteTile::at(first, 0, 1)", becomes="first + 16", problems=TURING[1:]
    ),
    "a swizzle that lets banks collide": Bug(
        file="attention/shared_tile.h",
        text="chunk ^ (row / (8 / swizzled) % swizzled)",
        becomes="chunk ^ (row % swizzled)",
        problems=DEEP,
    ),
    "a swizzle of the copies alone": Bug(
        file=ROWS,
        text="ByteTile::first(at(tile), row(), thread_index() % chunks)",
        becomes="at(tile) + static_cast<uint32_t>(row() * kTileDepth + column())",
        problems=DEEP,
    ),
    "half of the columns of 4 bits": Bug(
        file="gemm/choose.cpp", text="args.in * args.x_bits / 8", becomes="args.in / 4", problems=(INT4,)
    ),
    "even columns alone where 4 bits are multiplied in 8": Bug(
        file="primitives.h",
        text="        multiply_int8_k32(d, odd, odd_sixteenfold(b0), odd_sixteenfold(b1));\n",
        becomes="",
        problems=(INT4_HOPPER,),
    ),
    "odd columns with even ones": Bug(
        file="primitives.h",
        text="multiply_int8_k32(d, odd, odd_sixteenfold(b0), odd_sixteenfold(b1))",
        becomes="multiply_int8_k32(d, odd, even_sixteenfold(b0), even_sixteenfold(b1))",
        problems=(INT4_HOPPER,),
    ),
    "sums that stay 256 times as large": Bug(
        file=EPILOGUE, text=" >> T::sum_shift", becomes="", problems=(INT4_HOPPER,)
    ),
    "rows eight further on Turing, in 4 bits": Bug(
        file="primitives.h",
        text="multiply_int4_k32(d[2], d[3], a[1], b0);",
        becomes="multiply_int4_k32(d[2], d[3], a[0], b0);",
        problems=(INT4_TURING,),
    ),
    "sums of floats that products alone add up": Bug(
        file=FLOAT_PRODUCTS,
        text="    float of_tile[2][4] = {};\n",
        becomes="    float (&of_tile)[2][4] = sums;\n",
        problems=(FLOATS_DEEP,),
    ),
    "half of the columns of floats": Bug(
        file=FLOAT_PRODUCTS,
        text="step < ByteTile::chunks / 2; ++step",
        becomes="step < ByteTile::chunks / 4; ++step",
        problems=(FLOATS,),
    ),
    "the weight's other half": Bug(
        file=FLOAT_PRODUCTS, text="a[step][m], b[step][0][2]", becomes="a[step][m], b[step][0][0]", problems=(FLOATS,)
    ),
    "floats of x of the tile before": Bug(
        file=MAINLOOP,
        text="add_fp8_tile<T>(sums, x_.at(tile), weight_.at(tile))",
        becomes="add_fp8_tile<T>(sums, x_.at(tile ? tile - 1 : 0), weight_.at(tile))",
        problems=(FLOATS,),
    ),
    "a scale for each column where they share one": Bug(
        file=EPILOGUE,
        text="params.shares_weight_scale ? 0 : column",
        becomes="params.shares_weight_scale ? column : column",
        problems=(FLOATS_SHARED,),
        error="memory outside of the tensors",
    ),
    "one scale for all columns": Bug(
        file=EPILOGUE,
        text="params.shares_weight_scale ? 0 : column",
        becomes="params.shares_weight_scale ? 0 : 0 * column",
        problems=(FLOATS,),
    ),
    "no activation": Bug(
        file=EPILOGUE,
        text="params.activation == MZT_ACTIVATE_GELU_TANH",
        becomes="params.activation == MZT_ACTIVATE_GELU_TANH && !params.gate",
        problems=(ACTIVATED,),
    ),
    "gated: one layer for both": Bug(
        file=ROWS, text="row() % 16 < 8 ? first : second", becomes="row() % 16 < 24 ? first : second", problems=(GATED,)
    ),
    "gated: rows of a layer left out": Bug(
        file=ROWS, text="row() / 16 * 8 + row() % 8;", becomes="row() / 16 * 16 + row() % 8;", problems=(GATED,)
    ),
    "gated: rows beyond the layers": Bug(
        file=ROWS,
        text="rows_left_(2 * (rows_left - row_of_pair()))",
        becomes="rows_left_(2 * (rows_left - row_of_pair()) + 32)",
        problems=(GATED,),
        error="memory outside of the tensors",
    ),
    "gated: scales and bias of one layer": Bug(
        file=EPILOGUE,
        text="T::is_gated ? part_layer(params, n % 2)",
        becomes="T::is_gated ? part_layer(params, 0)",
        problems=(GATED,),
    ),
    "gated: value and gate exchanged": Bug(
        file=GATES,
        text="gated(values[m][n][at], values[m][n + 1][at]",
        becomes="gated(values[m][n + 1][at], values[m][n][at]",
        problems=(GATED,),
    ),
    "gated: the other activation": Bug(
        file=GATES, text="activation == MZT_GATED_GELU", becomes="activation == MZT_GATED_SILU", problems=(GATED_GELU,)
    ),
    "gated: one row for both": Bug(file=GATES, text="m * 16 + mine / tiles * 8", becomes="m * 16", problems=(GATED,)),
    "gated: tiles as wide as both": Bug(
        file="gemm/choose.cpp",
        text="instance.is_gated ? instance.tile_n / 2",
        becomes="instance.is_gated ? instance.tile_n",
        problems=(GATED,),
    ),
    "gated: the second layer's columns begin after the first's": Bug(
        file="gemm/choose.cpp",
        text="is_gated(args) ? 0 : args.parts",
        becomes="is_gated(args) ? args.out_columns : args.parts",
        problems=(GATED,),
    ),
    "split: parts reach into the next": Bug(
        file=MAINLOOP, text="return last < tiles ? last : tiles;", becomes="return last + 1;", problems=(SPLIT,)
    ),
    "split: every part begins at the first column": Bug(
        file=MAINLOOP, text="return T::is_split ? first_ : 0;", becomes="return 0;", problems=(SPLIT,)
    ),
    "split: parts by the number of the tile": Bug(
        file=SPLITS, text="block_index() / tiles", becomes="block_index() % tiles", problems=(SPLIT,)
    ),
    "split: sums of another part": Bug(
        file=SPLITS,
        text="split * tiles + block_index()",
        becomes="split * tiles + block_index() / 2 * 2",
        problems=(SPLIT,),
    ),
    "split: the last part is not added": Bug(
        file=SPLITS, text="split < params.splits;", becomes="split < params.splits - 1;", problems=(SPLIT,)
    ),
    "split: sums of all rows in one place": Bug(
        file=SPLITS,
        text="block * numbers + number) * T::Shape::threads",
        becomes="block * numbers + number / 2) * T::Shape::threads",
        problems=(SPLIT,),
    ),
    "split: a part too short": Bug(
        file="gemm/choose.cpp",
        text="divide_up(divide_up(params.in_bytes, kTileDepth), splits)",
        becomes="divide_up(params.in_bytes, kTileDepth) / splits",
        problems=(SPLIT,),
    ),
    "convolution: no barrier before a tile is multiplied": Bug(
        file=CONVOLUTIONS,
        text="        barrier();  // this tile is there for all, and all are done with the one before\n",
        becomes="",
        problems=CONVOLVED,
    ),
    "convolution: tiles are not waited for": Bug(
        file=CONVOLUTIONS,
        text="wait_copies<Architecture, T::stages - 2>()",
        becomes="wait_copies<Architecture, T::stages - 1>()",
        problems=CONVOLVED,
    ),
    "convolution: pixels are read before they are there": Bug(
        file=CONVOLUTIONS,
        text="    }\n    barrier();\n    ConvolutionLoop",
        becomes="    }\n    ConvolutionLoop",
        problems=CONVOLVED,
    ),
    "convolution: the scales of the pixel in the middle": Bug(
        file=CONVOLUTIONS,
        text="params_.x_scales[tap.index(params_, pixel)]",
        becomes="params_.x_scales[pixel.index]",
        problems=CONVOLVED[:1],
    ),
    "convolution: scales of the row eight further": Bug(
        file=CONVOLUTIONS, text="scales[m][each / 2]", becomes="scales[m][1 - each / 2]", problems=CONVOLVED[:1]
    ),
    "convolution: scales of the first place for all": Bug(
        file=CONVOLUTIONS, text="            tap.advance();\n", becomes="", problems=CONVOLVED[:1]
    ),
    "convolution: the first place for all": Bug(
        file=PIXELS, text="        tap_.advance();\n", becomes="", problems=CONVOLVED[:1]
    ),
    "convolution: channels of a place left out": Bug(
        file=PIXELS,
        text="        depth_ += kTileDepth;\n",
        becomes="        depth_ += 2 * kTileDepth;\n",
        problems=CONVOLVED,
    ),
    "convolution: what is left of the image is the end of the row above": Bug(
        file=PIXELS,
        text="static_cast<uint32_t>(pixel.x + x) < static_cast<uint32_t>(params.image_width)",
        becomes="pixel.x + x < params.image_width",
        problems=CONVOLVED,
    ),
    "convolution: what is above the image is another": Bug(
        file=PIXELS,
        text="static_cast<uint32_t>(pixel.y + y) < static_cast<uint32_t>(params.image_height)",
        becomes="pixel.y + y < params.image_height",
        problems=CONVOLVED,
    ),
    "convolution: rows beyond the last see something": Bug(
        file=PIXELS,
        text="if (number >= params.rows) return {0, -2, -2};",
        becomes="",
        problems=CONVOLVED,
        error="memory outside of the tensors",
    ),
    "convolution: images of the output's size": Bug(
        file=PIXELS,
        text="params.image_height * params.image_width;",
        becomes="params.out_pixels;",
        problems=(STRIDED,),
    ),
    "convolution: rows of the output's width": Bug(
        file=PIXELS, text="first + y * params.image_width", becomes="first + y * params.out_width", problems=(STRIDED,)
    ),
    "convolution: Turing writes a tile where another is": Bug(
        file=CONVOLUTIONS, text="x_.end(tile);", becomes="x_.end(tile + 1);", problems=(CONVOLVED_TURING,)
    ),
    "convolution: an edge rounded down": Bug(
        file="gemm/gemm.h",
        text="(pixels - 1) / args.image_stride + 1",
        becomes="pixels / args.image_stride",
        problems=(STRIDED,),
    ),
    "weights of another warp": Bug(
        file=PRODUCTS,
        text="thread_index() / 32 % T::Shape::warps_n",
        becomes="thread_index() / 32 / T::Shape::warps_n",
        problems=DEEP,
    ),
    "no barrier before the branch takes the place of the last tiles": Bug(
        file=BRANCHES, text="        barrier();  // all are done with what lies there\n", becomes="", problems=BRANCH
    ),
    "no barrier before the branch is multiplied": Bug(
        file=BRANCHES, text="        barrier();  // these columns are there for all\n", becomes="", problems=BRANCH
    ),
    "half of a rank that is no multiple of two tiles": Bug(
        file=BRANCHES, text="first + at_once < tiles ? first + at_once : tiles", becomes="first + 1", problems=BRANCH
    ),
    "no bias": Bug(
        file=EPILOGUE,
        text=" * scales[each % 2] + bias[each % 2]",
        becomes=" * scales[each % 2] + 0 * bias[each % 2]",
        problems=(ENDS,),
    ),
    "the scale of the row eight further": Bug(
        file=EPILOGUE, text="sum * x_scales[m][each / 2]", becomes="sum * x_scales[m][1 - each / 2]", problems=(ENDS,)
    ),
    "the gate of another batch": Bug(
        file=EPILOGUE,
        text="row / params.rows_per_batch * params.gate_stride",
        becomes="row % params.rows_per_batch * params.gate_stride",
        problems=(Problem(gate=9, rows=81),),
    ),
    "a codebook's second group has the first one's scale": Bug(
        file=CODES, text="scales >> (8 * group) & 0xffu", becomes="scales & 0xffu", problems=(CODED,)
    ),
    "codes beyond the eighth are looked up among the first": Bug(
        file=CODES, text="0x3210u + ((codes & 0x8888u) >> 1)", becomes="0x3210u", problems=(CODED,)
    ),
    "levels are not clipped": Bug(
        file=CODES,
        text="fminf(fmaxf(product, -127.0f), 127.0f)",
        becomes="product",
        problems=(CODED,),
    ),
    "scales of the tile's first columns for all": Bug(
        file=TILES, text="(T::has_codebook ? 2 * half() : 0)", becomes="0", problems=(CODED,)
    ),
    "no gate where there is a residual": Bug(
        file=EPILOGUE,
        text="    if (params.gate) {\n",
        becomes="    if (params.gate && !params.residual) {\n",
        problems=(ENDS,),
    ),
    "columns of a quad in the wrong order": Bug(
        file=EPILOGUE,
        text="shuffle_xor(high ? first : second, step)",
        becomes="shuffle_xor(high ? second : first, step)",
        problems=(RAGGED,),
    ),
    "a column too many is written": Bug(
        file=EPILOGUE,
        text="row < params.rows && column < params.out_columns) {",
        becomes="row < params.rows && column <= params.out_columns) {",
        problems=(RAGGED,),
    ),
    "every tile writes the first columns": Bug(
        file=KERNEL, text="static_cast<int>(within / together) * T::out_columns", becomes="0", problems=(RAGGED,)
    ),
}


def kind_of(problem):
    """What its file of instances is called."""
    if problem.codebook:
        return "codebook"
    if problem.by_group:
        return "svdquant"
    if problem.floats:
        return "fp8"
    if problem.image is not None:
        return "convolution"
    if problem.splits > 1:
        return "split"
    if problem.is_gated:
        return "gated"
    return f"int{problem.bits}" if problem.x_bits == 8 else "w4a4"


def sources_of(folder, problems):
    """A copy of the kernels' sources with one instance for each format that the problems need."""
    kinds = {(problem.dtype, kind_of(problem)) for problem in problems}
    wanted = {f"gemm/{str(dtype).removeprefix('torch.')}_{kind}" for dtype, kind in kinds}
    return copy_sources(folder, wanted, lambda line: SHAPE in line)


def verdicts(emulator, problems):
    return [emulator.run(problem, number) for problem in problems for number in emulator.numbers(problem)]


@pytest.mark.parametrize("bug", BUGS.values(), ids=BUGS.keys())
def test_planted_bug_is_seen(bug, tmp_path):
    sources = sources_of(tmp_path / "kernels", bug.problems)
    bug.plant(sources)
    bug.check_seen(verdicts(LinearEmulator(build(sources)), bug.problems))


def test_without_a_bug_nothing_is_seen():
    emulator = LinearEmulator(build())
    problems = {problem for bug in BUGS.values() for problem in bug.problems}
    seen = [
        emulator.run(problem, number)
        for problem in problems
        for number in emulator.numbers(problem)
        if emulator.instances[number].tile == (64, 64)
    ]
    assert len(seen) == len(problems)
    assert all(verdict.right for verdict in seen)
