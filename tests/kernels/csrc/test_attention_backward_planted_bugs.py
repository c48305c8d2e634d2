"""Mistakes that backward kernels are made with, planted one at a time: each must be seen on the emulator."""

from dataclasses import replace

import pytest
import torch
from emulated_backward import BackwardEmulator, Case
from emulated_kernels import Problem
from emulator_build import build, copy_sources
from planted_bugs import Bug

pytestmark = [pytest.mark.requires_command("g++", "sudo apt-get install g++"), pytest.mark.slow]

ONE = {"head_dim": 64, "heads": 1, "kv_heads": 1}
PLAIN = tuple(Case(problem=Problem(**ONE, nq=150, nk=100, late_copies=late)) for late in (False, True))
STUBBORN = tuple(replace(case, problem=replace(case.problem, stubborn=True)) for case in PLAIN)
SEVERAL = tuple(
    Case(problem=Problem(**ONE, nq=70, nk=300, stubborn=stubborn, late_copies=False)) for stubborn in (False, True)
)
# One stage: head size 128; that of 8 warps and that of 4.
SINGLE = tuple(
    Case(problem=Problem(head_dim=128, heads=1, kv_heads=1, nq=100, nk=100, stubborn=stubborn, late_copies=late))
    for stubborn, late in ((False, True), (True, False))
)
CAUSAL = Case(problem=Problem(**ONE, nq=70, nk=150, causal=True))
LENGTHS = Case(problem=Problem(**ONE, batch=2, nq=40, nk=100, key_lengths=(0, 70)))
MASKED = Case(problem=Problem(**ONE, batch=2, nq=40, nk=100, key_mask="none_seen"))
GROUPED = Case(problem=Problem(head_dim=64, batch=2, heads=4, kv_heads=2, nq=70, nk=40))
SUMS = Case(problem=Problem(**ONE, nq=40, nk=50), lse_gradient=True)
SPLIT = Case(problem=Problem(**ONE, nq=40, nk=300), splits=2)
REST = Case(problem=Problem(head_dim=72, heads=1, kv_heads=1, dtype=torch.float16, nq=40, nk=70))
SLICED = Case(problem=Problem(head_dim=256, heads=1, kv_heads=1, nq=20, nk=40))

MAINLOOP, KERNEL, ROWS = (f"attention/backward/{name}.h" for name in ("mainloop", "kernel", "rows"))
TRAITS, ACCUMULATE = "attention/backward/traits.h", "attention/backward/accumulate.h"


BUGS = {
    "delta is left out": Bug(
        file=MAINLOOP, text=" - of.at[each % 2 * 2 + 1]);", becomes=" - 0 * of.at[each % 2 * 2 + 1]);", problems=PLAIN
    ),
    "delta is the other query's": Bug(
        file=MAINLOOP, text=" - of.at[each % 2 * 2 + 1]);", becomes=" - of.at[1]);", problems=PLAIN
    ),
    "delta of two lanes of eight": Bug(
        file=ROWS, text="mask < kLanesPerRow;", becomes="mask < kLanesPerRow / 2;", problems=PLAIN
    ),
    "the gradient of the sums is added": Bug(
        file=ROWS,
        text="sum -= params.lse_gradient[index];",
        becomes="sum += params.lse_gradient[index];",
        problems=(SUMS,),
    ),
    "a row that sees nothing has weights": Bug(
        file=ROWS, text="sees ? lse * kLog2E : INFINITY", becomes="lse * kLog2E", problems=(LENGTHS, MASKED)
    ),
    "queries that do not exist have weights": Bug(
        file=ROWS,
        text="exists ? params.lse[index] : -INFINITY",
        becomes="exists ? params.lse[index] : -1e30f",
        problems=PLAIN,
    ),
    "the logarithm is taken as it is": Bug(
        file=ROWS, text="sees ? lse * kLog2E : INFINITY", becomes="sees ? lse : INFINITY", problems=PLAIN
    ),
    "keys' gradients without the scale": Bug(
        file=KERNEL, text="place, first_key, params.scale);", becomes="place, first_key, 1);", problems=PLAIN
    ),
    "values' gradients with the scale": Bug(
        file=KERNEL, text="place, first_key, kept);", becomes="place, first_key, kept * params.scale);", problems=PLAIN
    ),
    "queries' gradients without the scale": Bug(
        file=ROWS, text="sums[2 * word] * params.scale,", becomes="sums[2 * word],", problems=PLAIN
    ),
    "a ragged key has a part": Bug(
        file=MAINLOOP, text="key < limit &&", becomes="key < limit + params_.nk &&", problems=(LENGTHS,)
    ),
    "values beyond the length are read": Bug(
        file=MAINLOOP,
        text="params_.v_stride.token, first_key_, limit);",
        becomes="params_.v_stride.token, first_key_, limit + 1);",
        problems=(LENGTHS,),
    ),
    "one key too many": Bug(file=MAINLOOP, text="key < limit &&", becomes="key <= limit &&", problems=(LENGTHS,)),
    "the mask of another batch": Bug(
        file=MAINLOOP,
        text="params_.key_mask + batch() * params_.key_mask_stride",
        becomes="params_.key_mask + 0 * params_.key_mask_stride",
        problems=(MASKED,),
    ),
    "a tile with a hidden key is taken for plain": Bug(
        file=MAINLOOP,
        text="hides_ = ballot(hidden) != 0;",
        becomes="hides_ = ballot(hidden) == ~0u;",
        problems=(MASKED,),
    ),
    "the causal edge is off by one": Bug(
        file=MAINLOOP,
        text="params_.causal ? key - (params_.nk - params_.nq) : 0;",
        becomes="params_.causal ? key - (params_.nk - params_.nq) + 1 : 0;",
        problems=(CAUSAL,),
    ),
    "one tile too few is masked": Bug(
        file=MAINLOOP,
        text="first_key_ + Shape::tile_m - 1;",
        becomes="first_key_ - 1;",
        problems=(CAUSAL, Case(problem=replace(CAUSAL.problem, nq=150, nk=128))),
    ),
    "the first tile that sees a key is left out": Bug(
        file=MAINLOOP,
        text="(first_seen > 0 ? first_seen : 0) / Shape::tile_n;",
        becomes="((first_seen > 0 ? first_seen : 0) + Shape::tile_n - 1) / Shape::tile_n;",
        problems=(CAUSAL,),
    ),
    "only the first head of a group": Bug(
        file=MAINLOOP, text="while (now.head < params_.group) {", becomes="while (now.head < 1) {", problems=(GROUPED,)
    ),
    "heads of a group in the wrong order": Bug(
        file=MAINLOOP,
        text="anew(place_.kv_head) * params_.group + of_group;",
        becomes="anew(place_.kv_head) + of_group * params_.kv_heads;",
        problems=(GROUPED,),
    ),
    "queries and gradients are not waited for": Bug(
        file=MAINLOOP, text="wait_copies<Architecture, 0>();", becomes="wait_copies<Architecture, 1>();", problems=PLAIN
    ),
    "no barrier before queries are read": Bug(
        file=MAINLOOP,
        text="        barrier();  // Q(j) and dO(j) are there for all, and all are done with dS(j-1)\n",
        becomes="",
        problems=(*PLAIN, *STUBBORN),
    ),
    "no barrier before gradients of scores are read": Bug(
        file=MAINLOOP,
        text="        barrier();  // dS(j) is there for all, and all are done with Q(j) and dO(j)\n",
        becomes="",
        problems=(*PLAIN, *STUBBORN),
    ),
    "the next queries are copied before all are done with these": Bug(
        file=MAINLOOP,
        text="        barrier();  // dS(j) is there for all, and all are done with Q(j) and dO(j)\n"
        "        if constexpr (Shape::stages == 1) load_queries(next, 0);\n",
        becomes="        if constexpr (Shape::stages == 1) load_queries(next, 0);\n        barrier();\n",
        problems=SINGLE,
    ),
    "one place for two tiles of queries": Bug(
        file=MAINLOOP, text="load_queries(next, 1 - stage);", becomes="load_queries(next, stage);", problems=PLAIN
    ),
    "keys are copied before all are done with those before": Bug(
        file=MAINLOOP, text="        barrier();  // all are done with the keys before\n", becomes="", problems=SEVERAL
    ),
    "weights are packed after they became gradients": Bug(
        file=MAINLOOP,
        text="        multiply_values<T>(dk, packed, part_of(queries(stage)));",
        becomes="        pack_weights<T>(packed, s);\n        multiply_values<T>(dk, packed, part_of(queries(stage)));",
        problems=PLAIN,
    ),
    "gradients of scores in the wrong rows": Bug(
        file=MAINLOOP,
        text="packed[m][n / 2][n % 2 * 2 + half];",
        becomes="packed[m][n / 2][n % 2 + 2 * half];",
        problems=PLAIN,
    ),
    "a swizzle that is added where it is exclusive": Bug(
        file=MAINLOOP,
        text="^ (begin % swizzled * 16)) +",
        becomes="+ (begin % swizzled * 16)) +",
        problems=(*PLAIN, REST),
    ),
    "a column too many of dq": Bug(
        file=MAINLOOP,
        text="if (T::out_tiles % 2 == 0 || begin + o + 1 < T::out_tiles) add_rows",
        becomes="add_rows",
        problems=(REST,),
    ),
    "sums of queries that do not exist": Bug(
        file=MAINLOOP,
        text="if (row + 8 < params_.nq) add_pair",
        becomes="add_pair",
        problems=PLAIN,
        error="memory outside of the tensors",
    ),
    "sums are not zeros at first": Bug(
        file=ROWS, text="= Four{{0, 0, 0, 0}};", becomes="= *reinterpret_cast<Four*>(to + column);", problems=PLAIN
    ),
    "only the first split counts": Bug(
        file=ROWS,
        text="    const int parts = params.ordered ? params.splits : 1;\n    float sums[8] = {};",
        becomes="    const int parts = 1;\n    float sums[8] = {};",
        problems=(SPLIT,),
    ),
    "slices are those of the first columns": Bug(
        file=MAINLOOP,
        text="return tile + place_.slice * (T::part_dim * 2);",
        becomes="return tile + 0 * place_.slice;",
        problems=(SLICED,),
    ),
}


def files_of(cases):
    """The instances' files that these cases need."""
    names = {(str(case.problem.dtype).removeprefix("torch."), case.problem.head_dim) for case in cases}
    return {f"backward/backward_{dtype}_{head_dim}" for dtype, head_dim in names}


def verdicts(emulator, cases):
    return [emulator.run(case, number) for case in cases for number in emulator.numbers(case)]


@pytest.mark.parametrize("bug", BUGS.values(), ids=BUGS.keys())
def test_planted_bug_is_seen(bug, tmp_path):
    sources = copy_sources(tmp_path / "kernels", files_of(bug.problems))
    bug.plant(sources)
    bug.check_seen(verdicts(BackwardEmulator(build(sources)), bug.problems))


def test_without_a_bug_nothing_is_seen(tmp_path):
    cases = {case for bug in BUGS.values() for case in bug.problems}
    emulator = BackwardEmulator(build(copy_sources(tmp_path / "kernels", files_of(cases))))
    assert all(verdict.right for verdict in verdicts(emulator, cases))
