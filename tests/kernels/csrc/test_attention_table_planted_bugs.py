"""Mistakes that block tables are followed with, planted one at a time: each must be seen on the emulator."""

from dataclasses import replace

import pytest
import torch
from emulated_kernels import Emulator, Problem
from emulator_build import build, copy_sources
from planted_bugs import Bug

pytestmark = [pytest.mark.requires_command("g++", "sudo apt-get install g++"), pytest.mark.slow]

BASE = Problem(head_dim=64, nq=150, nk=200, table="random")
HEADS = replace(BASE, heads=4, kv_heads=2, table="random heads")
BATCH = replace(BASE, batch=2, table="random both")
WIDE_ROWS = replace(BASE, nq=300, table_queries=128)
LENGTHS = replace(BASE, batch=3, key_lengths=(0, 65, 130))
INT8 = replace(BASE, int8=True, uneven=True)
HALVES = replace(BASE, head_dim=256, heads=1, kv_heads=1, nk=150)
QUARTERS = replace(BASE, head_dim=512, dtype=torch.float16, heads=1, kv_heads=1, nq=70, nk=150)
PATTERN = Problem(head_dim=64, nq=300, nk=300, table="longformer")

WALK, MASK, CHOOSE = "attention/tile_walk.h", "attention/mask.h", "attention/choose.cpp"
MAINLOOP, INT8_LOOP, KERNEL = "attention/mainloop.h", "attention/int8/mainloop.h", "attention/kernel.h"


def bug(file, text, becomes, *problems):
    return Bug(file=file, text=text, becomes=becomes, problems=problems or (BASE,))


BUGS = {
    "rows begin one entry late": bug(WALK, "first_entry_ = row[0];", "first_entry_ = row[0] + 1;"),
    "rows end one entry early": bug(
        WALK, "(row[1] - row[0]) * per_block", "(row[1] - row[0] - 1) * per_block", PATTERN
    ),
    "the next row": bug(WALK, "(first_query >> table.log2_queries);", "(first_query >> table.log2_queries) + 1;"),
    "rows of 64 queries": bug(WALK, "(first_query >> table.log2_queries);", "(first_query >> 6);", WIDE_ROWS),
    "all heads have the first one's table": bug(
        WALK, "head * table.stride_head;", "0 * head * table.stride_head;", HEADS
    ),
    "all batches have the first one's table": bug(
        WALK, "batch * table.stride_batch", "0 * batch * table.stride_batch", BATCH
    ),
    "entries in the order of the keys' tiles": bug(WALK, "table_.col[first_entry_ + step / per_block]", "step"),
    "the tiles of a block are one": bug(WALK, "* per_block + step % per_block);", "* per_block);", HALVES, QUARTERS),
    "partial entries are whole": bug(WALK, "return (entry & kPartial) |", "return 0 |"),
    "bits of another tile": bug(WALK, "place = table_.tile[", "place = 1 + table_.tile["),
    "bits of the block's first queries": bug(WALK, "first_query_ & ((1 << table_.log2_queries) - 1);", "0;", WIDE_ROWS),
    "bits of the next step": bug(
        WALK, "table_.tile[first_entry_ + step / per_block]", "table_.tile[first_entry_ + step]", HALVES
    ),
    "words of the row below": bug(MASK, "(words + row);", "(words + row + 1);"),
    "the rows of the first eight": bug(
        MASK, "first_row_of<T>(below, thread) + half * 8;", "first_row_of<T>(below, thread);"
    ),
    "halves of a word in the wrong order": bug(MASK, "first_key % kBlockKeys / 32 + word]", "1 - word]"),
    "bits from the highest": bug(
        MASK,
        "seen &= bits_of_row<T>(words, row, first_key, word);",
        "uint32_t b = bits_of_row<T>(words, row, first_key, word), r = 0;\n"
        "for (int i = 0; i < 32; ++i) r |= (b >> i & 1) << (31 - i);\nseen &= r;",
    ),
    "the second half of a word is the first": bug(MASK, "first_key % kBlockKeys / 32 + word]", "word]", HALVES),
    "the low bits of a half": bug(MASK, "bits >> first_key % 32 : bits", "bits : bits", QUARTERS),
    "the keys of the tile before": bug(
        MAINLOOP, "                tile = next;\n                next = after;", "                tile = next = after;"
    ),
    "keys by the step": bug(
        MAINLOOP,
        "TileWalk<T>::number(tile) * Shape::tile_n, source_.key_limit);",
        "(0 * tile + step) * Shape::tile_n, source_.key_limit);",
    ),
    "values by the step": bug(
        MAINLOOP, "        load_values(first_key);\n", "        load_values(step * Shape::tile_n);\n"
    ),
    "masks by the step": bug(
        MAINLOOP, "bytes, first_key, m * 16, walk", "bytes, step * Shape::tile_n, m * 16, walk", LENGTHS
    ),
    "int8: scales by the step": bug(
        INT8_LOOP,
        "operands_.k_scale(TileWalk<T>::number(tile))",
        "operands_.k_scale(step)",
        INT8,
    ),
    "int8: values by the step": bug(
        INT8_LOOP, "        load_values(first_key);\n", "        load_values(step * Shape::tile_n);\n", INT8
    ),
    "int8: one place for all keys": bug(
        INT8_LOOP,
        "load_keys(TileWalk<T>::number(next), 1 - stage);",
        "load_keys(TileWalk<T>::number(next), stage);",
        INT8,
    ),
    "the order of the next row": bug(
        WALK,
        "first_row_of_table(table, batch, head) + number",
        "first_row_of_table(table, batch, head) + 1 + number",
        HEADS,
    ),
    "rows in order, and not their tiles": bug(
        WALK, "return row * per_row + number % per_row;", "return row;", WIDE_ROWS
    ),
    "a last row of all tiles is cut": bug(CHOOSE, "!args.table || !args.table->order", "true", WIDE_ROWS),
    "scores without a bias are scaled": bug(MASK, "    if (!sight.bias) return;\n", ""),
    "a table's strides are swapped": bug(
        CHOOSE,
        "table->stride_batch, table->stride_head, table->block_q",
        "table->stride_head, table->stride_batch, table->block_q",
        HEADS,
    ),
}


def files_of(problems):
    return {f"attention/{str(problem.dtype).removeprefix('torch.')}_{problem.head_dim}" for problem in problems}


def line_for(problems):
    """Whether a line is for an instance with masks, of scores as one of the problems has."""
    names = {"int8_instance" if problem.int8 else "instance" for problem in problems}
    return lambda line: line.strip().partition("<")[0] in names and ">, true" in line


@pytest.mark.parametrize("bug", BUGS.values(), ids=BUGS.keys())
def test_planted_bug_is_seen(bug, tmp_path):
    sources = copy_sources(tmp_path / "kernels", files_of(bug.problems), line_for(bug.problems))
    bug.plant(sources)
    bug.check_seen(Emulator(build(sources)).verdicts(bug.problems))


def test_without_a_bug_nothing_is_seen(emulator):
    problems = {problem for bug in BUGS.values() for problem in bug.problems}
    found = emulator.verdicts(problems)
    assert len(found) >= len(problems) and all(verdict.right for verdict in found)
