"""Mistakes that weights and values of 8-bit floats are made with, planted one at a time: each must be seen."""

import pytest
from emulated_kernels import Emulator, Problem
from emulator_build import build, copy_sources
from planted_bugs import Bug

pytestmark = [pytest.mark.requires_command("g++", "sudo apt-get install g++"), pytest.mark.slow]

FULL = Problem(head_dim=64, nq=40, nk=128, int8_fp8=True, same_keys=True, same_values=True)  # the largest sums
PROBLEMS = (Problem(head_dim=64, nq=40, nk=150, int8_fp8=True, uneven=True), FULL)
STORES = "attention/wide_stores.h"
VALUES, PASS, LOOP, KERNEL = (
    f"attention/int8/{name}.h" for name in ("fp8_values", "quantize_all", "all_mainloop", "kernel")
)


def bug(file, text, becomes, error=""):
    return Bug(file=file, text=text, becomes=becomes, problems=PROBLEMS, error=error)


BUGS = {
    "each thread has the whole sum": bug(VALUES, "kQuarters = 0x28282828u", "kQuarters = 0x38383838u"),
    "values too large for a tile's sum": bug(VALUES, "kLargestFp8Value = 36", "kLargestFp8Value = 72"),
    "weights too large for a tile's sum": bug(VALUES, "by, kLog2Of28);", "by, kLog2Of255);"),
    "the other row's sum": bug(VALUES, "sums[1] = low_half(of_rows[1]);", "sums[1] = low_half(of_rows[0]);"),
    "32 keys are left out": bug(VALUES, "multiply_fp8_half_k32(of_rows, p[1], b[2], b[3]);", ""),
    "32 keys twice": bug(VALUES, "p[1], b[2], b[3]);", "p[1], b[0], b[1]);"),
    "columns exchanged": bug(VALUES, "sums[2 * half] = low_half(", "sums[2 * half] = high_half("),
    "weights in another order": bug(VALUES, "pack_e4m3(weights[0], weights[1],", "pack_e4m3(weights[1], weights[0],"),
    "values in another order": bug(PASS, "pack_e4m3(x[0], x[1],", "pack_e4m3(x[1], x[0],"),
    "values keep their scale": bug(PASS, "largest[channel] / Values::kLargest;", "largest[channel] / 127;"),
    "the logarithm of another largest weight": bug(KERNEL, "kLnOf28 : kLnOf255", "kLnOf255 : kLnOf255"),
    "a tile's sums under the maximum of another": bug(LOOP, "of_tile[m].share[each / 2]", "of_tile[m].share[each % 2]"),
    "words reach the next lane alone": bug(STORES, "apart < 4; apart *= 2", "apart < 2; apart *= 2"),
    "eights of another lane": bug(STORES, "(o + lane % 4) * 8", "(o + 3 - lane % 4) * 8"),
    "rows that are not there are stored": bug(
        STORES,
        "if (wanted) *reinterpret_cast<Chunk*>",
        "if (wanted || true) *reinterpret_cast<Chunk*>",
        "memory outside of the tensors",
    ),
}


def verdicts(sources):
    return Emulator(build(sources)).verdicts(PROBLEMS)


def sources_in(folder):
    return copy_sources(folder / "kernels", ("attention/bfloat16_64",), lambda line: " int8_fp8_instance<" in line)


@pytest.mark.parametrize("bug", BUGS.values(), ids=BUGS.keys())
def test_planted_bug_is_seen(bug, tmp_path):
    sources = sources_in(tmp_path)
    bug.plant(sources)
    bug.check_seen(verdicts(sources))


def test_without_a_bug_nothing_is_seen(tmp_path):
    found = verdicts(sources_in(tmp_path))
    assert len(found) == 2 * len(PROBLEMS) and all(verdict.right for verdict in found)
