"""Mistakes that the backward pass follows block tables with, planted one at a time: the emulator must see each."""

from dataclasses import replace

import pytest
from emulated_backward import BackwardEmulator, Case
from emulated_kernels import Problem
from emulator_build import build, copy_sources
from planted_bugs import Bug

pytestmark = [pytest.mark.requires_command("g++", "sudo apt-get install g++"), pytest.mark.slow]

BASE = Case(problem=Problem(head_dim=64, heads=1, kv_heads=1, nq=150, nk=200, table="random"))


def like(**changes):
    return replace(BASE, problem=replace(BASE.problem, **changes))


HEADS, BATCH = like(heads=4, kv_heads=2, table="random heads"), like(batch=2, table="random batch")
QUARTERS = like(head_dim=512, nq=70)
HALVES = like(head_dim=128)
LOOP, WALK, CHOOSE = "attention/backward/mainloop.h", "attention/tile_walk.h", "attention/backward/choose.cpp"


def bug(file, text, becomes, *cases):
    return Bug(file=file, text=text, becomes=becomes, problems=cases or (BASE,))


BUGS = {
    "rows begin one entry late": bug(WALK, "first_entry_ = row[0];", "first_entry_ = row[0] + 1;"),
    "the next row": bug(WALK, "(first_query >> table.log2_queries);", "(first_query >> table.log2_queries) + 1;"),
    "the first keys' row": bug(LOOP, "anew(first_key_), tiles};", "0, tiles};"),
    "all heads have the first one's table": bug(
        LOOP, "head(of_group), anew(first_key_)", "0 * head(of_group), anew(first_key_)", HEADS
    ),
    "a group has its first head's table": bug(
        LOOP, "batch(), head(of_group), anew", "batch(), head(0 * of_group), anew", HEADS
    ),
    "all batches have the first one's table": bug(LOOP, "{params_.table, batch(),", "{params_.table, 0,", BATCH),
    "the first tile is left out": bug(LOOP, "Cursor now = from(0, 0);", "Cursor now = from(0, 1);"),
    "a head begins where the last one ended": bug(LOOP, "++of_group, step = 0)", "++of_group)", HEADS),
    "queries by the step": bug(LOOP, "return TileWalk<T>::number(at.tile) *", "return at.step *"),
    "partial entries are whole": bug(LOOP, "if (now.tile & kPartial)", "if (false)"),
    "bits of the next tile": bug(LOOP, ".words(at.tile, at.step);", ".words(at.tile, at.step + 1);"),
    "bits of the group's first head": bug(LOOP, "walk(at.head).words", "walk(0).words", HEADS),
    "bits of the rows of the first eight": bug(LOOP, "(m * 16, thread_) + half * 8;", "(m * 16, thread_);"),
    "bits of the block's first queries": bug(
        LOOP, "bits_of_row<T>(words, row, first, word)", "bits_of_row<T>(words, row, 0 * first, word)", HALVES, QUARTERS
    ),
    "bits of all lanes are the first one's": bug(LOOP, "hidden >> lane() % 4 * 2);", "hidden);"),
    "hidden is seen": bug(LOOP, "hidden = ~bits_of_row", "hidden = bits_of_row"),
    "the table is not told": bug(CHOOSE, "params.table = table_params(args.table);", ""),
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
    found = verdicts(emulator, cases)
    assert len(found) >= len(cases) and all(verdict.right for verdict in found)
