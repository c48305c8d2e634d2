"""Mistakes that kernels of this kind are made with, planted one at a time: each must be seen on the emulator."""

import pytest
import torch
from emulated_linear_attention import LinearAttentionEmulator, Problem
from emulator_build import build, copy_sources
from planted_bugs import Bug

from mezzotint_kernels.linear_attention_abi import FeatureMap

pytestmark = [pytest.mark.requires_command("g++", "sudo apt-get install g++"), pytest.mark.slow]

ONE = {"heads": 1, "kv_heads": 1, "nq": 20}
PLAIN = Problem(**ONE, nk=90)
ELU = Problem(**ONE, nk=90, map=FeatureMap.ELU_PLUS_ONE, head_dim=40, dtype=torch.float16)
LONG = Problem(**ONE, nk=190, head_dim=72)
SPLIT = Problem(**ONE, nk=190, splits=3)
LENGTHS = Problem(**ONE, batch=2, key_lengths=(70, 3), map=FeatureMap.ELU_PLUS_ONE)
MASKED = Problem(**ONE, batch=2, key_mask=True, map=FeatureMap.ELU_PLUS_ONE)
EPSILON = Problem(**ONE, epsilon=30.0)
LEAST = Problem(**ONE, map=FeatureMap.IDENTITY, least=0.1, epsilon=0.0, dtype=torch.float16)
UNDIVIDED = Problem(**ONE, map=FeatureMap.IDENTITY, divided=False)
MANY = Problem(**ONE, map=FeatureMap.IDENTITY, features=136, divided=False)
SHARED = Problem(heads=4, kv_heads=2, batch=2, nq=10, nk=70)
LARGE = Problem(**ONE, nk=300, dtype=torch.float16, values_by=10000.0)
# Warps that come late show it in some of these orders.
ORDERS = tuple(
    Problem(**ONE, nk=250, head_dim=64, seed=seed, late_copies=seed % 2 == 0, stubborn=seed > 2) for seed in range(6)
)
FEATURES, SUMMARIZE, JOIN, APPLY, PLAN = (
    *(f"linear_attention/{name}.h" for name in ("features", "summarize", "join", "apply")),
    "linear_attention/plan.cpp",
)

BUGS = {
    # ---- features
    "elu without its one": Bug(file=FEATURES, text="x > 0 ? x + 1 :", becomes="x > 0 ? x :", problems=(ELU,)),
    "a power of 2 for one of e": Bug(file=FEATURES, text="(kLog2E * x)", becomes="(x)", problems=(ELU,)),
    "relu the other way round": Bug(file=FEATURES, text="x < 0 ? 0 : x", becomes="x > 0 ? 0 : x", problems=(PLAIN,)),
    "halves of a pair exchanged": Bug(
        file=FEATURES,
        text="feature_of<map>(low_number<Element>(pair)), feature_of<map>(high_number<Element>(pair))",
        becomes="feature_of<map>(high_number<Element>(pair)), feature_of<map>(low_number<Element>(pair))",
        problems=(LONG,),
    ),
    # ---- sums
    "z counts one token too many": Bug(
        file=SUMMARIZE,
        text="pack<Element>(is_seen ? 1.0f",
        becomes="pack<Element>(token <= limit_ ? 1.0f",
        problems=(ELU,),
    ),
    "z counts one token too few": Bug(
        file=SUMMARIZE,
        text="pack<Element>(is_seen ? 1.0f",
        becomes="pack<Element>(is_seen && token + 1 < limit_ ? 1.0f",
        problems=(PLAIN,),
    ),
    "z counts hidden tokens": Bug(
        file=SUMMARIZE, text="is_seen ? 1.0f : 0.0f", becomes="1.0f", problems=(LENGTHS, MASKED, ELU)
    ),
    "hidden values are read": Bug(
        file=SUMMARIZE,
        text="                                 is_seen && of_values);",
        becomes="                                 token < limit_ && of_values);",
        problems=(MASKED,),
    ),
    "the mask is forgotten": Bug(file=SUMMARIZE, text=" && (!mask_ || mask_[token]);", becomes=";", problems=(MASKED,)),
    "another batch's mask": Bug(
        file=SUMMARIZE,
        text="params.key_mask + batch * params.key_mask_stride",
        becomes="params.key_mask",
        problems=(MASKED,),
    ),
    "lengths are forgotten": Bug(
        file=SUMMARIZE, text="if (params.key_lengths)", becomes="if (params.nk < 0)", problems=(LENGTHS,)
    ),
    "rows beyond the keys are read": Bug(
        file=SUMMARIZE,
        text="token < limit_ && (",
        becomes="token <= limit_ && (",
        problems=(PLAIN,),
        error="memory outside of the tensors",
    ),
    "columns beyond the head are read": Bug(
        file=SUMMARIZE,
        text="first_column_ + column < params_.head_dim;",
        becomes="first_column_ + column <= params_.head_dim;",
        problems=(PLAIN,),
        error="memory outside of the tensors",
    ),
    "the last tile of a split is left out": Bug(
        file=SUMMARIZE, text="tile < end; ++tile", becomes="tile + 1 < end; ++tile", problems=(LONG,)
    ),
    "splits overlap": Bug(
        file=SUMMARIZE,
        text="past = first + params_.tiles_per_split,",
        becomes="past = first + params_.tiles_per_split + 1,",
        problems=(SPLIT,),
    ),
    "tokens and features exchanged in a fragment": Bug(
        file=SUMMARIZE,
        text="lane() % 8 + lane() / 16 * 8, warp() * 2 + lane() / 8 % 2",
        becomes="lane() % 16, warp() * 2 + lane() / 16",
        problems=(LONG,),
    ),
    "no wait for a tile": Bug(
        file=SUMMARIZE,
        text="            wait_copies<Architecture, 1>();\n",
        becomes="            wait_copies<Architecture, 2>();\n",
        problems=ORDERS,
    ),
    "no barrier before a tile is multiplied": Bug(
        file=SUMMARIZE,
        text="            wait_copies<Architecture, 1>();\n            barrier();\n",
        becomes="            wait_copies<Architecture, 1>();\n",
        problems=ORDERS,
    ),
    "no barrier before a tile is overwritten": Bug(
        file=SUMMARIZE,
        text="multiply_stage(stage);\n            barrier();\n",
        becomes="multiply_stage(stage);\n",
        problems=ORDERS,
    ),
    # ---- joining
    "a split is left out": Bug(
        file=JOIN,
        text="split = 0; split < params.splits",
        becomes="split = 1; split < params.splits",
        problems=(SPLIT,),
    ),
    "no low part": Bug(
        file=JOIN,
        text="pack<Element>(left - low_number<Element>(high), right - high_number<Element>(high))",
        becomes="pack<Element>(0, 0)",
        problems=(UNDIVIDED,),
    ),
    "no scale": Bug(file=JOIN, text="exponent == 255 ? 127 :", becomes="wanted > 0 ? 127 :", problems=(LARGE,)),
    "a scale that is not undone": Bug(
        file=JOIN, text="power_of_two(254 - exponent)", becomes="power_of_two(255 - exponent)", problems=(EPSILON,)
    ),
    # ---- applying
    "no epsilon": Bug(file=APPLY, text=" + params_.epsilon;", becomes=";", problems=(EPSILON,)),
    "a scaled epsilon": Bug(
        file=APPLY,
        text=" + params_.epsilon;",
        becomes=" + params_.epsilon * scales()[params_.width / kEight - 1];",
        problems=(EPSILON,),
    ),
    "epsilon twice": Bug(
        file=APPLY, text=" + params_.epsilon;", becomes=" + 2 * params_.epsilon;", problems=(EPSILON,)
    ),
    "no least": Bug(
        file=APPLY, text="total < params_.least ? params_.least : total", becomes="total", problems=(LEAST,)
    ),
    "always divided": Bug(file=APPLY, text="!params_.divided || ", becomes="", problems=(UNDIVIDED,)),
    "another head's sums": Bug(
        file=APPLY, text="head_ / params.group;", becomes="head_ % params.kv_heads;", problems=(SHARED,)
    ),
    "the total of another row": Bug(
        file=APPLY, text="inverse_of(totals_[2])", becomes="inverse_of(totals_[0])", problems=(PLAIN,)
    ),
    "the first features alone": Bug(
        file=APPLY,
        text="feature < params_.features; feature += kTile",
        becomes="feature < kTile; feature += kTile",
        problems=(MANY,),
    ),
    "sums beyond the features": Bug(
        file=APPLY, text="feature + row < params_.features && (", becomes="(", problems=(ELU,)
    ),
    "queries beyond the last are read": Bug(
        file=APPLY,
        text="query < params_.nq && column",
        becomes="column",
        problems=(PLAIN,),
        error="memory outside of the tensors",
    ),
    "queries beyond the last are written": Bug(
        file=APPLY,
        text="if (query < params_.nq) *re",
        becomes="if (query < params_.nq + 1) *re",
        problems=(PLAIN, LONG),
        error="memory outside of the tensors",
    ),
    "no barrier before queries are multiplied": Bug(
        file=APPLY,
        text="            barrier();\n            multiply_tile();\n",
        becomes="            multiply_tile();\n",
        problems=ORDERS,
    ),
    # ---- planning
    "parts of the workspace overlap": Bug(
        file=PLAN,
        text="params.low = workspace + sum_bytes(args, splits) + part_bytes(args);",
        becomes="params.low = params.high;",
        problems=(PLAIN,),
    ),
    "tiles are left over": Bug(
        file=PLAN,
        text="divide_up(token_tiles(args), splits)",
        becomes="token_tiles(args) / splits",
        problems=(Problem(**ONE, nk=250, splits=3),),
    ),
}


@pytest.mark.parametrize("bug", BUGS.values(), ids=BUGS.keys())
def test_planted_bug_is_seen(bug, tmp_path):
    sources = copy_sources(tmp_path / "kernels")
    bug.plant(sources)
    emulator = LinearAttentionEmulator(build(sources))
    bug.check_seen([emulator.run(problem) for problem in bug.problems])


def test_without_a_bug_nothing_is_seen(tmp_path):
    emulator = LinearAttentionEmulator(build(copy_sources(tmp_path / "kernels")))
    for problem in {problem for bug in BUGS.values() for problem in bug.problems}:
        assert emulator.run(problem).right
