"""Mistakes that parts of keys are made with, planted one at a time: each must be seen on the emulator or in the PTX."""

from contextlib import suppress
from dataclasses import replace

import pytest
from emulated_kernels import Emulator, Problem, judge
from emulator_build import build, copy_sources
from planted_bugs import Bug
from ptx import cases
from ptx.attention_kernel import join_of, programs
from ptx.attention_launch import attend
from ptx.edits import Edit, replaced
from ptx.memory import MemoryFault
from ptx.program import PtxError

pytestmark = pytest.mark.requires_command("g++", "sudo apt-get install g++")

PLAIN = Problem(head_dim=64, nq=70, nk=290, splits=3, outliers=True)
CREEPING = Problem(head_dim=64, nq=20, nk=600, splits=5, creeping=True)
UNEVEN = Problem(head_dim=64, batch=2, nq=20, nk=300, splits=4, key_lengths=(70, 300))
CAUSAL = Problem(head_dim=64, nq=100, nk=290, splits=3, causal=True)
MASKED = Problem(head_dim=64, batch=2, nq=20, nk=200, splits=3, key_mask="random", bias="full")
HALF_BIAS = replace(MASKED, bias_float=False)
SLICED = Problem(head_dim=384, heads=1, kv_heads=1, nq=20, nk=100, splits=2)
GROUPED = Problem(head_dim=64, heads=4, kv_heads=2, batch=2, nq=20, nk=130, splits=2, tokens_first=True)
LOW = Problem(head_dim=64, nq=20, nk=130, splits=2, key_lengths=(1,), scale=40.0)  # of half of the rows
NONE = Problem(head_dim=64, batch=2, nq=20, nk=130, splits=2, key_lengths=(0, 130))

PART, JOIN, SPLITS, KERNEL = (
    f"attention/{name}" for name in ("splits/part.h", "splits/join.h", "splits/splits.cpp", "kernel.h")
)


def bug(file, text, becomes, *problems):
    return Bug(file=file, text=text, becomes=becomes, problems=problems or (PLAIN,))


BUGS = {
    "parts all count alike": bug(JOIN, "= exp2_approximate(found.m - most)", "= 1", CREEPING),
    "a part's weight the other way round": bug(JOIN, "(found.m - most)", "(most - found.m)", CREEPING),
    "the largest is not subtracted": bug(JOIN, "(found.m - most)", "(found.m)", CREEPING, PLAIN),
    "a largest of at least 0": bug(JOIN, "float most = -FLT_MAX;", "float most = 0;", LOW),
    "the last part is left out": bug(
        JOIN,
        "#pragma unroll 2\n    for (int part = 0; part < splits.count;",
        "for (int part = 0; part < splits.count - 1;",
    ),
    "the first part is left out": bug(JOIN, "#pragma unroll 2\n    for (int part = 0;", "for (int part = 1;"),
    "sums of weights without a part's": bug(JOIN, "sum = fmaf(found.l, weight, sum);", "sum += found.l;", CREEPING),
    "sums that are not scaled": bug(
        JOIN, "fmaf(float_of(four.words[each]), weight,", "fmaf(float_of(four.words[each]), 1.0f,", CREEPING
    ),
    "rows of another part": bug(JOIN, "splits.rows[place]", "splits.rows[row]", CREEPING),
    "halves of columns exchanged": bug(JOIN, "from[half]", "from[1 - half]"),
    "rows that see nothing are divided": bug(JOIN, "sum == 0 ? 0 : 1 / sum);  // a row", "1 / sum);  // a row", NONE),
    "logarithms without the largest": bug(
        JOIN, "(most + log2_approximate(sum)) * kLn2", "log2_approximate(sum) * kLn2"
    ),
    "logarithms to the base of 2": bug(JOIN, "(most + log2_approximate(sum)) * kLn2", "(most + log2_approximate(sum))"),
    "heads in the place of tokens": bug(
        JOIN, "row % params.nq * params.out_stride.token", "row % params.nq * params.out_stride.head", GROUPED
    ),
    "a batch's heads in the place of all": bug(JOIN, "head_row / params.heads", "head_row % params.heads", GROUPED),
    "parts of one tile less": bug(
        PART, "(keys.tiles + params.splits.count - 1) / params.splits.count", "keys.tiles / params.splits.count"
    ),
    "parts that overlap": bug(
        PART, "first + each < keys.tiles ? first + each :", "first + each + 1 < keys.tiles ? first + each + 1 :"
    ),
    "parts that begin a tile late": bug(
        PART, "const int first_key = first * T::Shape::tile_n;", "const int first_key = (first + 1) * T::Shape::tile_n;"
    ),
    "lengths are not moved": bug(PART, "keys.limit -= first_key;", "", UNEVEN, PLAIN),
    "the causal edge is not moved": bug(PART, "sight.causal_shift -= first_key;", "", CAUSAL),
    "the edge is looked for in no tile": bug(PART, "first >= plain ? end - first : end - plain", "0", CAUSAL),
    "the edge is looked for in one tile less": bug(
        PART, "first >= plain ? end - first : end - plain", "end - first - 1", CAUSAL
    ),
    "the mask is not moved": bug(PART, "sight.key_mask += first_key", "sight.key_mask += 0", MASKED),
    "the bias is not moved": bug(PART, "const int64_t bytes = first_key *", "const int64_t bytes = 0 *", MASKED),
    "a bias of 16 bits moved by twice as much": bug(PART, "(sight.bias_is_float ? 4 : 2)", "4", HALF_BIAS),
    "a bias of 32 bits moved by half": bug(PART, "(sight.bias_is_float ? 4 : 2)", "2", MASKED),
    "keys are not moved": bug(KERNEL, "source.k += first_key * params.k_stride.token;", ""),
    "values are not moved": bug(KERNEL, "T::slice_dim + first_key * params.v_stride.token", "T::slice_dim"),
    "sums of another part's place": bug(
        KERNEL,
        "static_cast<int64_t>(part) * params.splits.all_rows",
        "static_cast<int64_t>(part / 2) * params.splits.all_rows",
    ),
    "heads write over each other": bug(
        KERNEL, "(place.batch * params.heads + place.head) * params.nq;\n}", "place.head * params.nq;\n}", GROUPED
    ),
    "slices write over each other": bug(PART, "slice * T::slice_dim + thread % 4 * 2", "thread % 4 * 2", SLICED),
    "rows below are not told": bug(PART, "row_sum(loop.rows[m].l[half])", "row_sum(loop.rows[m].l[0])"),
    "sums of a lane for those of a row": bug(PART, "row_sum(loop.rows[m].l[half])", "loop.rows[m].l[half]"),
    "queries that do not exist are written": bug(PART, "if (query >= params.nq) continue;", ""),
    "columns beside each other": bug(PART, "to[o * 4] =", "to[o] ="),
    "parts numbered by the wrong divisor": bug(
        PART, "block / params.splits.blocks", "block / params.splits.count", GROUPED
    ),
    "room for one part less": bug(
        SPLITS, "sums + count * rows * args.head_dim", "sums + (count - 1) * rows * args.head_dim"
    ),
}


def is_plain(line, ends):
    """Whether it is of a 16-bit kernel with such an end of its line, of whether it has masks."""
    return line.startswith("    instance<") and line.rstrip().endswith(ends)


@pytest.mark.slow
@pytest.mark.parametrize("bug", BUGS.values(), ids=BUGS.keys())
def test_planted_bug_is_seen(bug, tmp_path):
    files, masked = (
        {f"attention/bfloat16_{each.head_dim}" for each in bug.problems},
        {each.masked for each in bug.problems},
    )
    ends = tuple(f", {str(mask).lower()}{slices}>()," for mask in masked for slices in ("", ", 192"))
    sources = copy_sources(tmp_path / "kernels", files, lambda line: "Shape<1, 4" in line and is_plain(line, ends))
    bug.plant(sources)
    bug.check_seen(Emulator(build(sources)).verdicts(bug.problems))


@pytest.mark.slow
def test_without_a_bug_nothing_is_seen(emulator):
    problems = {problem for bug in BUGS.values() for problem in bug.problems}
    assert all(verdict.right for verdict in emulator.verdicts(problems))


EDITS = {
    "nothing": None,
    "logarithms for exponents": replaced("ex2.approx.ftz.f32", "lg2.approx.f32"),
    "pairs the other way round": Edit(r"(cvt\.rn\.f16x2\.f32 %\w+), (%\w+), (%\w+)", r"\1, \3, \2"),
    "half of the columns are stored": replaced("st.global.v4.u32", "st.global.v2.u32"),
    "the thread for the block": Edit(r"%ctaid\.x", "%tid.x"),
}


@pytest.mark.slow_after(2)
@pytest.mark.parametrize("edit", EDITS.values(), ids=EDITS.keys())
def test_mistake_in_the_text_of_what_joins_is_seen(ptx, edit):
    kernel, problem = cases.PLAIN, replace(PLAIN, dtype=cases.FLOAT, heads=1, kv_heads=1, nq=20)
    right = False
    with suppress(*() if edit is None else (PtxError, MemoryFault)):
        join = join_of(ptx, kernel, edit) if edit else join_of(ptx, kernel)
        right = max(judge(attend(kernel, programs(ptx, kernel)[0], problem, (), join).tensors)) <= 1
    assert right == (edit is None)
