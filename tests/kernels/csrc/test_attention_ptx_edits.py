"""Mistakes planted in the text of attention's PTX, one at a time: each must be seen when it is run.

A mistake is a change of the text that nvcc wrote. Where nothing matches the test fails: plant it anew in what is there.
"""

import pytest
from emulated_kernels import Problem, judge
from ptx import cases, edits
from ptx.attention_kernel import programs
from ptx.attention_launch import attend
from ptx.edits import LEFT, RESULT, RIGHT, Edit, exchanged, replaced, shuffled, waits
from ptx.memory import MemoryFault
from ptx.program import PtxError

pytestmark = pytest.mark.requires_command("g++", "sudo apt-get install g++")

FILLED = (cases.PLAIN, Problem(head_dim=64, dtype=cases.FLOAT, heads=1, kv_heads=1, nq=64, nk=192))
RAGGED = (cases.PLAIN, Problem(head_dim=64, dtype=cases.FLOAT, heads=1, kv_heads=1, nk=150))
TEXT = (cases.TEXT, Problem(head_dim=64, dtype=cases.FLOAT, nq=250, nk=77, tiles_per_block=3))
REST = (cases.WITH_REST, Problem(head_dim=72, heads=1, kv_heads=1, nk=100))
INT8 = (cases.INT8, Problem(head_dim=72, heads=1, kv_heads=1, nk=100, int8=True, uneven=True))
INT8_ALL = (cases.INT8_ALL, Problem(head_dim=72, heads=1, kv_heads=1, nk=100, int8_all=True, uneven=True))
BIASED = (cases.MASKED, Problem(head_dim=64, dtype=cases.FLOAT, heads=1, kv_heads=1, nq=40, nk=64, bias="full"))
LOWEST = (
    cases.MASKED,
    Problem(head_dim=64, dtype=cases.FLOAT, batch=4, nq=20, nk=20, key_lengths=(1, 1, 1, 1), bias="lowest"),
)
HIDDEN = (cases.MASKED, Problem(head_dim=64, dtype=cases.FLOAT, nq=40, nk=64, key_mask="random"))
TURING = (cases.TURING, Problem(head_dim=72, dtype=cases.FLOAT, heads=1, kv_heads=1))
TURING_INT8 = (cases.TURING_INT8, Problem(head_dim=72, dtype=cases.FLOAT, heads=1, kv_heads=1, int8=True))

PLANTED = {
    "a0 and a1 of products exchanged": (exchanged(LEFT, 0), RAGGED),
    "b0 and b1 of products exchanged": (exchanged(RIGHT, 0), RAGGED),
    "values not transposed": (edits.NO_TRANSPOSE, RAGGED),
    "values are not waited for": (waits(1, 2), FILLED),
    "a1 and a2 of products exchanged": (exchanged(LEFT, 1), RAGGED),
    "rows of sums exchanged": (exchanged(RESULT, 1), RAGGED),
    "keys transposed": (edits.TRANSPOSED_TOO, RAGGED),
    "matrices exchanged": (edits.EXCHANGED_MATRICES, RAGGED),
    "beyond the last key all is copied": (edits.ALWAYS_COPIED, RAGGED),
    "nothing is copied": (edits.NEVER_COPIED, FILLED),
    "copies of half the bytes": (Edit(r"(cp\.async\.cg[^;]*\]), 16,", r"\1, 8,"), FILLED),
    "keys are not waited for": (waits(0, 1), FILLED),
    "values waited for with the next keys": (waits(1, 0), FILLED),
    "no group for the queries": (edits.NO_FIRST_COMMIT, FILLED),
    "no groups": (edits.NO_COMMIT, FILLED),
    "shuffles within pairs alone": (shuffled(1), RAGGED),
    "shuffles across the quad": (shuffled(4), RAGGED),
    "logarithms for exponents": (replaced("ex2.approx.ftz.f32", "lg2.approx.f32"), RAGGED),
    "inverses for exponents": (replaced("ex2.approx.ftz.f32", "rcp.approx.ftz.f32"), RAGGED),
    "exponents for logarithms": (replaced("lg2.approx.f32", "ex2.approx.ftz.f32"), RAGGED),
    "the block for the thread": (Edit(r"%tid\.x", "%ctaid.x"), RAGGED),
    "the thread for the block": (Edit(r"%ctaid\.x", "%tid.x"), RAGGED),
    "a barrier that some threads miss": (edits.MISSED_BARRIERS, RAGGED),
    "products of another type": (replaced("f32.f16.f16.f32", "f32.bf16.bf16.f32"), RAGGED),
    "pairs the other way round": (Edit(r"(cvt\.rn\.f16x2\.f32 %\w+), (%\w+), (%\w+)", r"\1, \3, \2"), RAGGED),
    "a text's queries are not waited for": (waits(0, 1), TEXT),
    "the rest's products with a0 and a1 exchanged": (exchanged(LEFT, 0, of="m16n8k8"), REST),
    "the rest's matrices not as they lie": (
        Edit(r"(ldmatrix\.sync\.aligned\.m8n8\.x2)(?:\.trans)?\.shared", r"\1.trans.shared"),
        REST,
    ),
    "bfloat16 products with float16": (replaced("f32.bf16.bf16.f32", "f32.f16.f16.f32"), REST),
    "bytes: a0 and a1 exchanged": (exchanged(LEFT, 0, of="s32.s8"), INT8),
    "bytes: b0 and b1 exchanged": (exchanged(RIGHT, 0, of="s32.s8"), INT8),
    "bytes: rows of sums exchanged": (exchanged(RESULT, 1, of="s32.s8"), INT8),
    "16-bit sums exchanged": (exchanged(RESULT, 0, of="f16.f16.f16.f16"), INT8),
    "bytes are not waited for": (waits(1, 2), INT8),
    "bytes without a sign: a0 and a1 exchanged": (exchanged(LEFT, 0, of="s32.u8"), INT8_ALL),
    "bytes without a sign: b0 and b1 exchanged": (exchanged(RIGHT, 0, of="s32.u8"), INT8_ALL),
    "bytes without a sign: rows of sums exchanged": (exchanged(RESULT, 1, of="s32.u8"), INT8_ALL),
    "neighbours of a bias exchanged": (Edit(r"(ld(?:\.global)?\.v2\.\w+\s+)\{(%\w+), (%\w+)\}", r"\1{\3, \2}"), BIASED),
    "the lowest bias rounded to nearest": (replaced("fma.rz", "fma.rn"), LOWEST),
    "one vote for all of a mask": (edits.REPEATED_VOTES, HIDDEN),
    "Turing: a0 and a1 exchanged": (exchanged(LEFT, 0), TURING),
    "Turing: not transposed": (edits.NO_TRANSPOSE, TURING),
    "Turing: words stored in another order": (
        Edit(r"(st\.shared\.v4\.u32 \[%\w+\], \{[^,]+), ([^,]+), ([^,]+),", r"\1, \3, \2,"),
        TURING,
    ),
    "Turing's bytes: factors exchanged": (edits.EXCHANGED_FACTORS, TURING_INT8),
    "Turing's bytes: sums exchanged": (exchanged(RESULT, 0, of="m8n8k16"), TURING_INT8),
    "Turing's 16-bit sums exchanged": (exchanged(RESULT, 0, of="f16.f16.f16.f16"), TURING_INT8),
}


def overlapping(ptx, kernel, problem, edit=lambda text: text):
    """Copies on their way at products; None where the run ends with an error or gives what it should not."""
    program, passes = programs(ptx, kernel, edit=edit)
    try:
        attended = attend(kernel, program, problem, passes)
    except (PtxError, MemoryFault):
        return None
    return attended.overlapping if max(judge(attended.tensors)) <= 1 else None


@pytest.mark.slow_after(4)
@pytest.mark.parametrize(("edit", "case"), PLANTED.values(), ids=PLANTED.keys())
def test_planted_mistake_is_seen(ptx, edit, case):
    kernel, problem = case
    seen = overlapping(ptx, kernel, problem, edit)
    assert seen is None or seen != overlapping(ptx, kernel, problem)


@pytest.mark.slow
@pytest.mark.parametrize("case", {case for _, case in PLANTED.values()}, ids=lambda case: case[0].name)
def test_without_a_mistake_nothing_is_seen(ptx, case):
    assert overlapping(ptx, *case) is not None
