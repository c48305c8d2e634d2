"""Mistakes that dropout is made with, planted one at a time: each must be seen on the emulator, in one pass or both."""

from dataclasses import replace

import pytest
import torch
from backward_tiles import Dropout
from emulated_backward import BackwardEmulator, Case
from emulated_kernels import Emulator, Problem
from emulator_build import build, copy_sources
from planted_bugs import Bug

pytestmark = [pytest.mark.requires_command("g++", "sudo apt-get install g++"), pytest.mark.slow]

FILES = ("attention/float16_64", "backward/backward_float16_64")
PLAIN = Problem(
    head_dim=64, dtype=torch.float16, nq=100, nk=150, dropout=Dropout(kept=150, seed=2**40 + 7, offset=2**33 + 1)
)
PROBLEMS = (PLAIN, replace(PLAIN, batch=2, heads=4, nq=40, nk=70))

DROPOUT, KERNEL, MAINLOOP = (f"attention/{name}.h" for name in ("dropout", "kernel", "backward/mainloop"))
BACKWARD_KERNEL = "attention/backward/kernel.h"


def bug(file, text, becomes):
    return Bug(file=file, text=text, becomes=becomes, problems=PROBLEMS)


BUGS = {
    "a shifted block of keys": bug(DROPOUT, "first_key / 32 + block);", "first_key / 32 + block + 1);"),
    "a shifted block of queries": bug(DROPOUT, "call(lane, first_query / 16,", "call(lane, first_query / 16 + 1,"),
    "the backward's shifted block": bug(
        DROPOUT, "first_query / 16 + block * 2 + odd", "first_query / 16 + block + odd"
    ),
    "the backward's other half of a block": bug(DROPOUT, "first_key / 16 % 2 * 4", "first_key / 32 % 2 * 4"),
    "six rounds": bug(DROPOUT, "round < 7;", "round < 6;"),
    "half of the seed": bug(DROPOUT, "static_cast<uint32_t>(seed >> 32)}", "0}"),
    "half of the counter": bug(DROPOUT, "static_cast<uint32_t>(own >> 32),", "0,"),
    "the offset is left out": bug(DROPOUT, "counter(dropout.offset + 32 *", "counter(32 *"),
    "all heads drop the same": bug(DROPOUT, "static_cast<uint64_t>(head)),", "0 * static_cast<uint64_t>(head)),"),
    "one more is kept": bug(DROPOUT, ">= kept;", "> kept;"),
    "words of another lane": bug(DROPOUT, "shuffle_xor(other[each], 4);", "shuffle_xor(other[each], 8);"),
    "words in the wrong order": bug(DROPOUT, "to[0][each] = odd ? received", "to[0][each] = !odd ? received"),
    "kept weights count for no more": bug(
        KERNEL, "Scaled{256.0f / static_cast<float>(params.dropout.kept)}", "Scaled{1}"
    ),
    "values' gradients are not scaled": bug(
        BACKWARD_KERNEL, "256.0f / static_cast<float>(params.dropout.kept) : 1;", "1.0f : 1;"
    ),
    "values get dropped weights": bug(
        MAINLOOP, "kept[m][n][each] = fmaxf(s[m][n][each], 0);", "kept[m][n][each] = fabsf(s[m][n][each]);"
    ),
    "weights' gradients are not scaled": bug(MAINLOOP, "0 : gradient * inverse;", "0 : gradient;"),
    "dropped weights have gradients": bug(MAINLOOP, "bits_of(weight) >> 31 ? 0 : gradient", "gradient"),
    "dropped weights have no delta": bug(MAINLOOP, "weight = fabsf(weight);", "weight = fmaxf(weight, 0);"),
    "another head's weights": bug(
        MAINLOOP, "batch() * params_.heads + head(at));\n#pragma", "batch() * params_.heads + 0 * head(at));\n#pragma"
    ),
}


def built(folder):
    return copy_sources(folder / "kernels", FILES, lambda line: " dropout_instance<" in line)


def verdicts(library):
    forward, backward = Emulator(library), BackwardEmulator(library)
    for problem in PROBLEMS:
        case = Case(problem=problem)
        yield from (forward.run(problem, number) for number in forward.numbers(problem))
        yield from (backward.run(case, number) for number in backward.numbers(case))


@pytest.mark.parametrize("bug", BUGS.values(), ids=BUGS.keys())
def test_planted_bug_is_seen(bug, tmp_path):
    sources = built(tmp_path)
    bug.plant(sources)
    bug.check_seen(list(verdicts(build(sources))))


def test_without_a_bug_nothing_is_seen(tmp_path):
    found = list(verdicts(build(built(tmp_path))))
    assert len(found) == 2 * len(PROBLEMS) and all(verdict.right for verdict in found)
