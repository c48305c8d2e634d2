"""Mistakes that kernels with late copies and products are made with, planted one at a time: each must be seen."""

from dataclasses import replace

import pytest
from emulated_kernels import Emulator, Problem
from emulator_build import build, copy_sources
from planted_bugs import Bug

pytestmark = [pytest.mark.requires_command("g++", "sudo apt-get install g++"), pytest.mark.slow]

ONE = Problem(head_dim=64, heads=1, kv_heads=1, nq=150, nk=500, hopper=True, outliers=True)
PLAIN = tuple(
    replace(ONE, stubborn=stubborn, late_reads=late_reads, late_copies=late_copies, seed=seed)
    for stubborn, seed in ((False, 0), (True, 0), (True, 1))
    for late_reads in (False, True)
    for late_copies in (False, True)
)
TILES = tuple(replace(problem, nq=700, nk=300, tiles_per_block=4) for problem in PLAIN)
CREEPING = (replace(ONE, nq=20, nk=1100, creeping=True, outliers=False),)
RAGGED = replace(ONE, nq=70, nk=100)
CAUSAL = replace(ONE, nq=130, nk=300, causal=True)
BLIND = replace(ONE, nq=300, nk=40, causal=True)
GROUPED = replace(ONE, heads=4, kv_heads=2, nq=40, nk=40)
FILLED = replace(ONE, head_dim=40, heads=2, kv_heads=2, nq=40, nk=40, tokens_first=True)
BATCHES = replace(ONE, batch=2, heads=2, kv_heads=2, nq=40, nk=40, tokens_first=True)

PRIMITIVES, MAPS = "hopper_primitives.h", "attention/hopper/maps.cpp"
CONSUMER, PRODUCER, RING, KERNEL, PRODUCTS, TRAITS = (
    f"attention/hopper/{name}.h" for name in ("consumer", "producer", "ring", "kernel", "products", "traits")
)
STEP = "            begin_products();\n            begin_scores"


def bug(file, text, becomes, problems=PLAIN, error=""):
    return Bug(file=file, text=text, becomes=becomes, problems=problems, error=error)


BUGS = {
    "keys are not waited for": bug(
        CONSUMER, "            rings_.keys.wait_full();\n            turns_", "            turns_"
    ),
    "the first keys are not waited for": bug(
        CONSUMER, "        rings_.keys.wait_full();\n        begin", "        begin"
    ),
    "values are not waited for": bug(CONSUMER, "            rings_.values.wait_next_full();\n", ""),
    "the first values are not waited for": bug(CONSUMER, "        rings_.values.wait_full();\n", ""),
    "queries are not waited for": bug(CONSUMER, "        rings_.queries.wait_full();\n", ""),
    "stages are not waited for until they are empty": bug(PRODUCER, "        ring.wait_empty();\n", "", TILES),
    "a full stage of the wrong phase": bug(RING, "wait_phase(full(), round_);", "wait_phase(full(), round_ ^ 1);"),
    "an empty stage of the wrong phase": bug(
        RING, "wait_phase(empty(), round_ ^ 1);", "wait_phase(empty(), round_);", error="deadlock"
    ),
    "phases do not change": bug(RING, "            round_ ^= 1;\n", ""),
    "keys are released before they are multiplied": bug(
        CONSUMER,
        "        wait_products<pending>();\n        hold(s);\n        rings_.keys.release();",
        "        rings_.keys.release();\n        wait_products<pending>();\n        hold(s);",
    ),
    "values are released before they are multiplied": bug(
        CONSUMER,
        "        wait_products<0>();\n        hold(out);\n        rings_.values.release();",
        "        rings_.values.release();\n        wait_products<0>();\n        hold(out);",
    ),
    "queries are released too early": bug(
        CONSUMER,
        "        rings_.queries.wait_full();\n",
        "        rings_.queries.wait_full();\n        if (range.tiles > 1) rings_.queries.release();\n",
        TILES,
    ),
    "scores are taken while they are multiplied": bug(CONSUMER, "take_scores<1>(s)", "take_scores<2>(s)"),
    "outputs are scaled while they are multiplied": bug(
        CONSUMER,
        "            take_outputs();\n            if (far) scale_outputs(kept);\n",
        "            if (far) scale_outputs(kept);\n            take_outputs();\n",
        CREEPING,
    ),
    "weights change while they are multiplied": bug(
        CONSUMER,
        "            take_outputs();\n            if (far) scale_outputs(kept);\n            pack_weights<T>(p, s);\n",
        "            pack_weights<T>(p, s);\n            take_outputs();\n            if (far) scale_outputs(kept);\n",
    ),
    "registers are not there for products": bug(
        CONSUMER, STEP, STEP.replace("            begin_products();\n", ""), error="before registers are there"
    ),
    "outputs are not committed": bug(
        CONSUMER,
        "            commit_products();\n            turns_.pass();",
        "            turns_.pass();",
        error="",
    ),
    "outputs are not scaled": bug(CONSUMER, "if (far) scale_outputs(kept);", "if (far) kept[0] = kept[1];", CREEPING),
    "sums are not scaled": bug(CONSUMER, "            state.l[half] *= kept[half];\n", "", CREEPING),
    "turns are not opened": bug(CONSUMER, "{ turns_.open(); }", "{}", error="deadlock"),
    "turns are not given": bug(CONSUMER, "            turns_.pass();\n", "", error="deadlock"),
    "a turn is left open": bug(CONSUMER, "        if (group_ == 0) wait();\n", "", error="nobody has waited for"),
    "turns of too few threads": bug(
        CONSUMER, "wait_turn(1 + group_, 2 * kGroupThreads)", "wait_turn(1 + group_, kGroupThreads)"
    ),
    "more bytes come than are announced": bug(
        PRODUCER, "arrive_and_announce(ring.full(), bytes);", "arrive_and_announce(ring.full(), bytes / 2);"
    ),
    "more bytes are announced than come": bug(
        PRODUCER, "arrive_and_announce(ring.full(), bytes);", "arrive_and_announce(ring.full(), 2 * bytes);"
    ),
    "barriers are not published": bug(RING, "        publish_barriers();\n", "", error="was not published"),
    "barriers are not there for all": bug(KERNEL, "    barrier();\n", ""),
    "fewer warps release a stage than are counted": bug(
        RING, "constexpr uint32_t warps = 4 * T::Shape::groups;", "constexpr uint32_t warps = 5 * T::Shape::groups;"
    ),
    "a stage is empty when some warps are done": bug(
        RING, "constexpr uint32_t warps = 4 * T::Shape::groups;", "constexpr uint32_t warps = 2 * T::Shape::groups;"
    ),
    "more registers than there are": bug(
        KERNEL, "keep_registers<T::producer_registers>();", "keep_registers<128>();", error="deadlock"
    ),
    "another group's queries": bug(CONSUMER, "group_ * 64 * T::row_bytes", "group_ * 32 * T::row_bytes"),
    "another layout of rows": bug(PRIMITIVES, "row_bytes == kWidestRow ? 1 : 2", "row_bytes == kWidestRow ? 2 : 1"),
    "eight rows further": bug(TRAITS, "eights = 8 * row_bytes", "eights = 16 * row_bytes", (RAGGED,)),
    "the next 16 columns": bug(PRODUCTS, "column % T::columns * 2;", "column % T::columns;", (RAGGED,)),
    "the next 16 keys": bug(PRODUCTS, "step * 16 * T::row_bytes / 16", "step * 8 * T::row_bytes / 16", (RAGGED,)),
    "scores are added to the last ones": bug(PRODUCTS, "column > 0);", "true);"),
    "weights in another order": bug(PRODUCTS, "p[n / 2][n % 2 * 2]", "p[n / 2][n % 2 * 2 ^ 2]", (RAGGED,)),
    "tiles of keys from the first on": bug(
        PRODUCER, "        keys(range.tiles - 1);\n", "        keys(0);\n", (replace(ONE, nk=300),)
    ),
    "a tile too few is masked": bug(CONSUMER, "if (range.masked_tiles > 0)", "if (range.masked_tiles > 1)", (RAGGED,)),
    "later tiles are not masked": bug(
        CONSUMER, "if (step < range.masked_tiles)", "if (step + 1 < range.masked_tiles)", (CAUSAL,)
    ),
    "rows of another warp are masked": bug(
        CONSUMER, "const int thread = thread_index_anew() - kGroupThreads;", "const int thread = thread_index_anew();",
        (CAUSAL,),
    ),
    "rows of another warp are written": bug(
        KERNEL, "const int thread = thread_index_anew() - kGroupThreads;", "const int thread = thread_index_anew();",
        (RAGGED,),
    ),
    "a row that sees nothing is divided by 0": bug(KERNEL, "sum == 0 ? 0 : 1 / sum", "1 / sum", (BLIND,)),
    "rows that are not there are written": bug(KERNEL, "row >= forward.nq || ", "", (RAGGED,)),
    "columns that are not there are written": bug(KERNEL, " || column >= params.head_dim", "", (FILLED,)),
    "heads of keys in the wrong order": bug(
        PRODUCER, "place.head / params_.forward.heads_per_kv", "place.head % params_.forward.heads_per_kv", (GROUPED,)
    ),
    "batches and heads exchanged": bug(
        PRODUCER, "T::columns, row, head, batch", "T::columns, row, batch, head", (GROUPED, BATCHES)
    ),
    "strides exchanged": bug(
        MAPS,
        "stride_bytes(axes.tokens, axes.strides[2]), stride_bytes(axes.heads, axes.strides[1])",
        "stride_bytes(axes.tokens, axes.strides[1]), stride_bytes(axes.heads, axes.strides[2])",
        (BATCHES,),
    ),
    "tiles that another block has": bug(KERNEL, "tile += blocks", "tile += 2 * blocks", TILES),
}  # fmt: skip


def sources_in(folder):
    return copy_sources(folder / "kernels", ("attention/hopper_bfloat16_64",))


@pytest.mark.parametrize("bug", BUGS.values(), ids=BUGS.keys())
def test_planted_bug_is_seen(bug, tmp_path):
    sources = sources_in(tmp_path)
    bug.plant(sources)
    bug.check_seen(Emulator(build(sources)).verdicts(bug.problems))


def test_without_a_bug_nothing_is_seen(tmp_path):
    emulator = Emulator(build(sources_in(tmp_path)))
    for problems in {each.problems for each in BUGS.values()}:
        found = emulator.verdicts(problems)
        assert len(found) == len(problems) and all(verdict.right for verdict in found)
