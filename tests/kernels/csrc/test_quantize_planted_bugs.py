"""Mistakes that kernels of this kind are made with, planted one at a time: each must be seen on the emulator."""

import pytest
from emulated_quantize import Problem, QuantizeEmulator
from emulator_build import build, copy_sources
from planted_bugs import Bug

from mezzotint_kernels.abi import Preparation

pytestmark = [pytest.mark.requires_command("g++", "sudo apt-get install g++"), pytest.mark.slow]

PLAIN = Problem(rows=20, columns=272, gap=1)
ROTATED = Problem(rows=3, columns=256, group=256)
TIES = Problem(rows=30, columns=768, pattern="ties")
NORM = Problem(rows=9, columns=1152, preparation=Preparation.LAYER_NORM, pattern="offset", weights="wb")
SQUARES = Problem(rows=9, columns=1152, preparation=Preparation.RMS_NORM, weights="wb")
MODULATED = Problem(rows=20, columns=128, preparation=Preparation.LAYER_NORM, rows_per_batch=6)
WEIGHED = Problem(rows=20, columns=128, preparation=Preparation.RMS_NORM, rows_per_batch=6, weights="b")
GATED = Problem(rows=5, columns=640, preparation=Preparation.GEGLU)
FLOATS = Problem(rows=20, columns=272, floats=True)
FLOAT_ZEROS = Problem(floats=True, pattern="zeros")
INT4 = Problem(rows=20, columns=1152, bits=4)
INT4_OUTLIERS = Problem(rows=20, columns=1152, bits=4, pattern="outliers")
BY_GROUP = Problem(rows=20, columns=1152, bits=4, by_group=True, smooth=True, group=64)
INT4_WIDE = tuple(Problem(rows=3, columns=6144, bits=4, seed=seed) for seed in range(4))
# Warps that come late to a board show it in some of these orders.
WIDE = tuple(
    Problem(rows=3, columns=6144, preparation=Preparation.LAYER_NORM, pattern="offset", seed=seed) for seed in range(4)
)
TEAMS, PREPARE, ROTATE, ROUND, KERNEL = (
    f"quantize/{name}.h" for name in ("teams", "prepare", "rotate", "round", "kernel")
)
INT4_ROUND, GROUPS = "quantize/round_int4.h", "quantize/groups.h"
FLOAT_ROUND = "quantize/round_fp8.h"


BUGS = {
    # ---- rotation
    "a wrong sign within chunks": Bug(
        file=ROTATE, text="d = fmaf(0.5f, sum, -a);", becomes="d = fmaf(0.5f, sum, a);", problems=(ROTATED,)
    ),
    "a wrong sign across lanes": Bug(
        file=ROTATE,
        text="two + shuffle_xor(two, 2), -across)",
        becomes="two + shuffle_xor(two, 2), across)",
        problems=(ROTATED,),
    ),
    "the matrix of Sylvester, which is not regular": Bug(
        file=ROTATE,
        text="const float first = fmaf(0.5f, sum, -d), second = fmaf(0.5f, sum, -c);",
        becomes="const float first = 0.5f * sum, second = fmaf(0.5f, sum, -b - d);",
        problems=(ROTATED,),
    ),
    "halves of chunks are not crossed": Bug(
        file=ROTATE,
        text="across_low = shuffle_xor(high, 1), across_high = shuffle_xor(low, 1)",
        becomes="across_low = shuffle_xor(low, 1), across_high = shuffle_xor(high, 1)",
        problems=(ROTATED,),
    ),
    "the wrong lane across": Bug(
        file=ROTATE,
        text="shuffle_xor(x[chunk][each], 6)",
        becomes="shuffle_xor(x[chunk][each], 4)",
        problems=(ROTATED,),
    ),
    "groups of 64 for 256": Bug(file=ROTATE, text="if (group >= 256)", becomes="if (group > 256)", problems=(ROTATED,)),
    "groups of 256 for 64": Bug(
        file=ROTATE,
        text="if (group >= 256)",
        becomes="if (group >= 64)",
        problems=(Problem(rows=3, columns=256, group=64),),
    ),
    "no rotation": Bug(file=KERNEL, text="    rotate(x, params.group);\n", becomes="", problems=(ROTATED,)),
    # ---- rounding
    "halves away from zero": Bug(
        file=ROUND,
        text="bits_of(fmaf(x, inverse, 12582912.0f))",
        becomes="bits_of(roundf(x * inverse) + 12582912.0f)",
        problems=(TIES,),
    ),
    "halves up": Bug(
        file=ROUND,
        text="bits_of(fmaf(x, inverse, 12582912.0f))",
        becomes="bits_of(floorf(x * inverse + 0.5f) + 12582912.0f)",
        problems=(TIES,),
    ),
    "cut off": Bug(
        file=ROUND,
        text="bits_of(fmaf(x, inverse, 12582912.0f))",
        becomes="bits_of(truncf(x * inverse) + 12582912.0f)",
        problems=(PLAIN,),
    ),
    "a scale by 128": Bug(file=ROUND, text="largest / 127;", becomes="largest / 128;", problems=(PLAIN,)),
    "a row of zeros has scale 0": Bug(
        file=ROUND,
        text="largest == 0 ? 1 : scale < kLeast ? kLeast : scale",
        becomes="scale < -kLeast ? 1 : scale",
        problems=(Problem(pattern="zeros"),),
    ),
    "the largest without its sign": Bug(
        file=ROUND,
        text="larger(largest, fabsf(x[chunk][each]))",
        becomes="larger(largest, x[chunk][each])",
        problems=(PLAIN,),
    ),
    "bytes in the wrong order": Bug(
        file=ROUND, text="pick_bytes(low, high, 0x5410)", becomes="pick_bytes(low, high, 0x1054)", problems=(PLAIN,)
    ),
    # ---- 4 bits
    "nothing is clipped": Bug(
        file=INT4_ROUND, text="errors[each] < least ? share_of", becomes="errors[each] < 0 ? share_of", problems=(INT4,)
    ),
    "always clipped": Bug(
        file=INT4_ROUND,
        text="errors[each] < least ? share_of",
        becomes="errors[each] >= 0 ? share_of",
        problems=(INT4_OUTLIERS,),
    ),
    "numbers leave their half": Bug(
        file=INT4_ROUND,
        text="fminf(fmaxf(fmaf(x, inverse, kMagic), kMagic - 8), kMagic + 7)",
        becomes="fmaf(x, inverse, kMagic)",
        problems=(INT4,),
    ),
    "even and odd columns change places": Bug(
        file=INT4_ROUND, text="x[2 * byte + odd]", becomes="x[2 * byte + 1 - odd]", problems=(INT4,)
    ),
    "half of the row is written": Bug(
        file=INT4_ROUND, text="column_of(place, chunk) / 2)", becomes="column_of(place, chunk) / 4)", problems=(INT4,)
    ),
    "numbers of this team alone": Bug(
        file=TEAMS, text="        values[each] = join_team<How>(all);\n", becomes="", problems=INT4_WIDE
    ),
    # ---- 4 bits, with scales by group
    "the row's largest for every group": Bug(
        file=GROUPS, text="group_scale(x[chunk])", becomes="group_scale(x[0])", problems=(BY_GROUP,)
    ),
    "a group without its other lanes": Bug(
        file=GROUPS, text="largest = join_team<Largest>(largest);", becomes="", problems=(BY_GROUP,)
    ),
    "errors of one lane": Bug(
        file=GROUPS,
        text="errors[share] = join_team<Sum>(error);",
        becomes="errors[share] = error;",
        problems=(BY_GROUP,),
    ),
    "rotated before it is smoothed": Bug(
        file=GROUPS,
        text="    if (params.smooth) smooth(x, place, params);\n    rotate(x, params.group);\n",
        becomes="    rotate(x, params.group);\n    if (params.smooth) smooth(x, place, params);\n",
        problems=(BY_GROUP,),
    ),
    "scales of the group before": Bug(
        file=GROUPS,
        text="column / kGroupColumns * params",
        becomes="(column - 1) / kGroupColumns * params",
        problems=(BY_GROUP,),
    ),
    "factors of other columns": Bug(file=GROUPS, text="factors[each / 4]", becomes="factors[0]", problems=(BY_GROUP,)),
    # ---- floats
    "a scale by 512": Bug(file=FLOAT_ROUND, text="largest / 448;", becomes="largest / 512;", problems=(FLOATS,)),
    "a division by the largest": Bug(
        file=FLOAT_ROUND,
        text="const float inverse = 1 / scale;",
        becomes="const float inverse = 1 / scale / 2;",
        problems=(FLOATS,),
    ),
    "floats in another order": Bug(
        file=FLOAT_ROUND,
        text="pack_e4m3(four[0] * inverse, four[1]",
        becomes="pack_e4m3(four[1] * inverse, four[0]",
        problems=(FLOATS,),
    ),
    "the first four twice": Bug(
        file=FLOAT_ROUND, text="x[chunk] + 4 * word", becomes="x[chunk] + 0 * word", problems=(FLOATS,)
    ),
    "a row of zeros is not of zeros": Bug(
        file=FLOAT_ROUND,
        text="largest == 0 ? 1 : scale < kLeast ? kLeast : scale",
        becomes="scale < -kLeast ? 1 : scale",
        problems=(FLOAT_ZEROS,),
    ),
    # ---- rows and columns
    "a block begins at another's row": Bug(
        file=TEAMS,
        text="* params.rows_per_block + of_block;",
        becomes="* (params.rows_per_block - 1) + of_block;",
        problems=(Problem(rows=32, columns=64),),
    ),
    "a row too many": Bug(
        file=TEAMS,
        text="place.row < params.rows;",
        becomes="place.row <= params.rows;",
        problems=(PLAIN,),
        error="memory outside of the tensors",
    ),
    "a chunk too many": Bug(
        file=TEAMS,
        text="column_of(place, chunk) < params.columns;",
        becomes="column_of(place, chunk) <= params.columns;",
        problems=(PLAIN,),
    ),
    "all teams have the first columns": Bug(
        file=TEAMS,
        text="(place.team - place.first_team) * kTeamColumns + ",
        becomes="",
        problems=(Problem(rows=3, columns=768),),
    ),
    # ---- what the lanes of a row have in common
    "no barrier before the board is read": Bug(file=TEAMS, text="    barrier();\n", becomes="", problems=WIDE),
    "another row's teams are joined": Bug(
        file=TEAMS, text="board[place.first_team + team]", becomes="board[team]", problems=(NORM, SQUARES)
    ),
    "teams beyond the eighth are left out": Bug(
        file=TEAMS,
        text="team < params.teams_per_row;",
        becomes="team < kTeamLanes && team < params.teams_per_row;",
        problems=WIDE,
    ),
    "one board for two numbers": Bug(
        file=KERNEL, text="boards, boards + kMostTeams)", becomes="boards, boards)", problems=WIDE
    ),
    # ---- preparation
    "no modulation": Bug(
        file=PREPARE, text="if (params.gain) modulate", becomes="if (!params.rows) modulate", problems=(MODULATED,)
    ),
    "another batch's modulation": Bug(
        file=PREPARE,
        text="place.row / params.rows_per_batch",
        becomes="place.row % params.rows_per_batch / 2",
        problems=(MODULATED,),
    ),
    "gain for 1 + gain": Bug(
        file=PREPARE, text="(by + by * gains[each])", becomes="(by * gains[each])", problems=(MODULATED,)
    ),
    "shift and gain exchanged": Bug(
        file=PREPARE,
        text="(by + by * gains[each]) + shifts[each]",
        becomes="(by + by * shifts[each]) + gains[each]",
        problems=(MODULATED,),
    ),
    "the norm is forgotten where a modulation follows": Bug(
        file=PREPARE, text="(by + by * gains[each])", becomes="(by / by + gains[each])", problems=(MODULATED,)
    ),
    "the norm counts twice where it has weights": Bug(
        file=PREPARE,
        text="        scale<Element>(x, by, place, params);\n        by = 1;\n",
        becomes="        scale<Element>(x, by, place, params);\n",
        problems=(WEIGHED,),
    ),
    "the norm's weight is left out": Bug(
        file=PREPARE,
        text="if (params.norm_weight && is_inside",
        becomes="if (!params.rows && is_inside",
        problems=(SQUARES,),
    ),
    "weights only where there is no modulation": Bug(
        file=PREPARE,
        text="(!params.gain || params.norm_weight || params.norm_bias)",
        becomes="(!params.gain)",
        problems=(WEIGHED,),
    ),
    "what is no column has a mean": Bug(
        file=PREPARE,
        text="        if (!is_inside(place, params, chunk)) continue;\n#pragma unroll\n"
        "        for (int each = 0; each < kEight; ++each) x[chunk][each] -= mean;",
        becomes="        for (int each = 0; each < kEight; ++each) x[chunk][each] -= mean;",
        problems=(NORM,),
    ),
    "the variance from the mean of squares": Bug(
        file=PREPARE,
        text="if constexpr (preparation == MZT_LAYER_NORM) subtract_mean",
        becomes="if constexpr (preparation == MZT_RMS_NORM) subtract_mean",
        problems=(NORM,),
    ),
    "one column less is counted": Bug(
        file=PREPARE,
        text="sum / static_cast<float>(params.columns)",
        becomes="sum / static_cast<float>(params.columns - 1)",
        problems=(SQUARES,),
    ),
    "no epsilon": Bug(
        file=PREPARE,
        text=" + params.epsilon)",
        becomes=")",
        problems=(Problem(preparation=Preparation.RMS_NORM, pattern="tiny"),),
    ),
    "gelu by tanh where it is by erf": Bug(
        file=PREPARE,
        text="x[chunk][each] *= gelu(gate[each]);",
        becomes="x[chunk][each] *= gelu_tanh(gate[each]);",
        problems=(GATED,),
    ),
    "the wrong half is activated": Bug(
        file=PREPARE,
        text="x[chunk][each] *= gelu(gate[each]);",
        becomes="x[chunk][each] = gelu(x[chunk][each]) * gate[each];",
        problems=(GATED,),
    ),
    "the other half begins at the wrong column": Bug(
        file=PREPARE, text="row + params.columns * int64_t{2}", becomes="row + params.columns", problems=(GATED,)
    ),
    "silu for gelu": Bug(
        file=PREPARE,
        text="return gelu_tanh(x);",
        becomes="return x * sigmoid(1.702f * x);",
        problems=(Problem(preparation=Preparation.GELU_TANH),),
    ),
}


@pytest.mark.parametrize("bug", BUGS.values(), ids=BUGS.keys())
def test_planted_bug_is_seen(bug, tmp_path):
    sources = copy_sources(tmp_path / "kernels")
    bug.plant(sources)
    emulator = QuantizeEmulator(build(sources))
    bug.check_seen([emulator.run(problem) for problem in bug.problems])


def test_without_a_bug_nothing_is_seen():
    emulator = QuantizeEmulator(build())
    for problem in {problem for bug in BUGS.values() for problem in bug.problems}:
        assert emulator.run(problem).right
