"""Mistakes that kernels of GroupNorm are made with, planted one at a time: each must be seen on the emulator."""

from dataclasses import dataclass

import pytest
import torch
from emulated_group_norm import GroupNormEmulator, Problem
from emulator_build import build, copy_sources
from planted_bugs import Bug

pytestmark = [pytest.mark.requires_command("g++", "sudo apt-get install g++"), pytest.mark.slow]

PLAIN = Problem(channels=72, groups=2, pixels=40)
LONG = Problem(pixels=290, channels=32, groups=2, batch=2)
RAGGED = Problem(pixels=129, channels=64)
WITHOUT = Problem(silu=False, dtype=torch.float16)
MEAN = Problem(mean=1000.0, deviation=1.0, pixels=500, channels=32, dtype=torch.float16)
MEASURE, JOIN, NORMALIZE, MOMENTS, PLAN = (
    *(f"group_norm/{name}.h" for name in ("measure", "join", "normalize", "moments")),
    "group_norm/plan.cpp",
)

BUGS = {
    "sums of the numbers themselves": Bug(
        file=MEASURE, text="origin[each] = numbers[each];", becomes="origin[each] = 0;", problems=(MEAN,)
    ),
    "no barrier before warps are combined": Bug(
        file=MEASURE,
        text="    barrier();\n    if (thread_index() >= kTile",
        becomes="    if (thread_index() >= kTile",
        problems=(PLAIN, LONG),
    ),
    "the last warp is left out": Bug(
        file=MEASURE, text="warp < kWarps; ++warp)", becomes="warp + 1 < kWarps; ++warp)", problems=(LONG,)
    ),
    "channels beyond the last are written": Bug(
        file=MEASURE, text="    if (!place.is_there) return;\n", becomes="", problems=(PLAIN,)
    ),
    "the last segment counts as a whole one": Bug(
        file=JOIN,
        text="left < params.segment_pixels ? left : params.segment_pixels",
        becomes="left < 0 ? left : params.segment_pixels",
        problems=(RAGGED,),
    ),
    "no barrier before a group's parts are read": Bug(
        file=JOIN, text="    barrier();\n", becomes="", problems=(PLAIN, LONG)
    ),
    "another batch's group": Bug(
        file=JOIN, text="block_index() / params.groups", becomes="block_index() * 0", problems=(LONG,)
    ),
    "no epsilon": Bug(file=JOIN, text=" + params.epsilon", becomes="", problems=(Problem(deviation=0.0, mean=3.0),)),
    "means that are not weighted by counts": Bug(
        file=MOMENTS, text="share = b.count / count", becomes="share = 0.5f", problems=(RAGGED,)
    ),
    "the difference of means is forgotten": Bug(
        file=MOMENTS, text=" + a.count * share * apart * apart", becomes="", problems=(PLAIN,)
    ),
    "always SiLU": Bug(file=NORMALIZE, text="if constexpr (silu) ", becomes="", problems=(WITHOUT,)),
    "a power of 2 for one of e": Bug(file=NORMALIZE, text="-kLog2E * x", becomes="-x", problems=(PLAIN,)),
    "pixels are left over": Bug(
        file=PLAN,
        text="return rounded_up(args.pixels, segment_pixels(args));",
        becomes="return args.pixels / segment_pixels(args);",
        problems=(LONG,),
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What became of a problem, in several orders of warps."""

    error: str
    right: bool


def verdict(emulator, problem):
    runs = [emulator.run(problem, order) for order in range(3)]
    error = next((said for said, _ in runs if said), "")
    right = not error and all(operands.error() <= 1 for _, operands in runs)
    return Verdict(error=error, right=right)


@pytest.mark.parametrize("bug", BUGS.values(), ids=BUGS.keys())
def test_planted_bug_is_seen(bug, tmp_path):
    sources = copy_sources(tmp_path / "kernels")
    bug.plant(sources)
    emulator = GroupNormEmulator(build(sources))
    bug.check_seen([verdict(emulator, problem) for problem in bug.problems])


def test_without_a_bug_nothing_is_seen(tmp_path):
    emulator = GroupNormEmulator(build(copy_sources(tmp_path / "kernels")))
    for problem in {problem for bug in BUGS.values() for problem in bug.problems}:
        assert verdict(emulator, problem).right
