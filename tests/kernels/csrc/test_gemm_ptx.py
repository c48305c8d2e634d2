"""The integer product from the PTX that nvcc makes of it: run, and with mistakes planted in its text."""

from contextlib import suppress
from dataclasses import replace

import pytest
from emulated_linear import Problem, judge
from ptx import cases, edits
from ptx.edits import LEFT, RESULT, RIGHT, Edit, exchanged, replaced, shuffled, waits
from ptx.linear_launch import LinearParams, multiply
from ptx.memory import MemoryFault
from ptx.program import PtxError, kernel_of
from ptx.structs import misread

pytestmark = pytest.mark.requires_command("g++", "sudo apt-get install g++")

DEEP = (cases.BYTES, Problem(depth=448, rows=65))
RAGGED = (cases.BYTES, Problem(depth=80, gap=1))
BRANCH = (cases.BYTES, Problem(depth=64, rank=48))
PACKED = (cases.PACKED, Problem(bits=4, dtype=cases.BRAIN, depth=320))
TURING = (cases.TURING_BYTES, Problem(depth=128))
TURING_PACKED = (cases.TURING_PACKED, Problem(bits=4, depth=128))

INT4 = (cases.INT4, Problem(bits=4, x_bits=4, depth=448, rows=65))
GROUPED = (cases.GROUPED, Problem(bits=4, x_bits=4, by_group=True, dtype=cases.BRAIN, depth=448, rows=65))
INT4_TURING = (cases.TURING_INT4_PRODUCT, Problem(bits=4, x_bits=4, depth=320))

CODED = (cases.CODEBOOK, Problem(bits=4, codebook=True, dtype=cases.BRAIN, depth=320))
FLOATS = (cases.FLOATS, Problem(floats=True, depth=448, rows=65))

GATED = cases.LINEAR["gated by GELU"]
CONVOLVED = cases.LINEAR["a convolution"]

PLANTED = {
    "a0 and a1 of products exchanged": (exchanged(LEFT, 0), DEEP),
    "b0 and b1 of products exchanged": (exchanged(RIGHT, 0), DEEP),
    "tiles are not waited for": (waits(2, 3), DEEP),
    "tiles waited for too early": (waits(2, 1), DEEP),
    "rows of sums exchanged": (exchanged(RESULT, 1), DEEP),
    "matrices exchanged": (edits.EXCHANGED_MATRICES, DEEP),
    "beyond the last column all is copied": (edits.ALWAYS_COPIED, RAGGED),
    "no groups": (edits.NO_COMMIT, DEEP),
    "shuffles over another distance": (shuffled(1), DEEP),
    "branch: a0 and a1 exchanged": (exchanged(LEFT, 0, of="f32.f16"), BRANCH),
    "branch: b0 and b1 exchanged": (exchanged(RIGHT, 0, of="f32.f16"), BRANCH),
    "branch: not waited for": (waits(0, 1), BRANCH),
    "pairs the other way round": (Edit(r"(cvt\.rn\.f16x2\.f32 %\w+), (%\w+), (%\w+)", r"\1, \3, \2"), DEEP),
    "packed: not waited for": (waits(2, 3), PACKED),
    "packed: words read in another order": (
        Edit(r"(ld\.shared\.v4\.u32 \{[^,]+), ([^,]+), ([^,]+),", r"\1, \3, \2,"),
        PACKED,
    ),
    "packed: words stored in another order": (
        Edit(r"(st\.shared\.v4\.u32 \[%\w+\], \{[^,]+), ([^,]+), ([^,]+),", r"\1, \3, \2,"),
        PACKED,
    ),
    "packed: bytes picked otherwise": (Edit(r"(prmt\.b32\s+[^,]+), ([^,]+), ([^,]+),", r"\1, \3, \2,"), PACKED),
    "codebook: bytes picked otherwise": (Edit(r"(prmt\.b32\s+[^,]+), ([^,]+), ([^,]+),", r"\1, \3, \2,"), CODED),
    "4 bits: b0 and b1 exchanged": (exchanged(RIGHT, 0, of="s4.s4"), INT4),
    "4 bits: rows of sums exchanged": (exchanged(RESULT, 1, of="s4.s4"), INT4),
    "by group: rows of sums exchanged": (exchanged(RESULT, 1, of="s4.s4"), GROUPED),
    "by group: tiles are not waited for": (waits(2, 3), GROUPED),
    "by group: scales of other columns": (Edit(r"(ld\.shared\.u32 %r\d+, \[%r\d+)\]", r"\1+4]"), GROUPED),
    "4 bits on Turing: sums exchanged": (exchanged(RESULT, 0, of="m8n8k32"), INT4_TURING),
    "gated: b0 and b1 exchanged": (exchanged(RIGHT, 0), GATED),
    "gated: tiles are not waited for": (waits(2, 3), GATED),
    "convolution: b0 and b1 exchanged": (exchanged(RIGHT, 0), CONVOLVED),
    "convolution: tiles are not waited for": (waits(2, 3), CONVOLVED),
    "convolution: all is copied": (edits.ALWAYS_COPIED, CONVOLVED),
    "floats: b0 and b1 exchanged": (exchanged(RIGHT, 0, of="e4m3.e4m3"), FLOATS),
    "floats: rows of sums exchanged": (exchanged(RESULT, 1, of="e4m3.e4m3"), FLOATS),
    "Turing: factors exchanged": (edits.EXCHANGED_FACTORS, TURING),
    "Turing: sums exchanged": (exchanged(RESULT, 0, of="m8n8k16"), TURING),
    "Turing, packed: sums exchanged": (exchanged(RESULT, 0, of="m8n8k16"), TURING_PACKED),
    "Turing: stored where it is not read": (replaced("st.shared.v4.u32", "st.shared.v2.u32"), TURING),
}


def program_of(ptx, kernel, edit=lambda text: text):
    return kernel_of(edit(ptx(kernel.source, kernel.architecture, (kernel.instance,))), kernel.name)


def overlapping(ptx, kernel, problem, edit=lambda text: text):
    """Copies on their way at products; None where the run ends with an error or gives what it should not."""
    try:
        multiplied = multiply(kernel, program_of(ptx, kernel, edit), problem)
    except (PtxError, MemoryFault):
        return None
    return multiplied.overlapping if judge(multiplied.operands) <= 1 else None


@pytest.mark.slow_after(8)
@pytest.mark.parametrize(("kernel", "problem"), cases.LINEAR.values(), ids=cases.LINEAR.keys())
def test_ptx_gives_what_the_reference_gives(ptx, kernel, problem):
    error = judge(multiply(kernel, program_of(ptx, kernel), problem).operands)
    assert error <= 1, f"the output is {error:.3g} times as far off as it may be"


@pytest.mark.parametrize("edit", [None, exchanged(RIGHT, 0), replaced("st.global.v4.u32", "st.global.v2.u32")])
def test_sums_of_parts_are_joined(ptx, edit):
    """And with a mistake in the kernel that makes them it is seen."""
    problem = Problem(splits=3, depth=448, rows=65, bias=True, dtype=cases.BRAIN)
    text = ptx(cases.SPLIT.source, cases.SPLIT.architecture, (cases.SPLIT.instance,))
    join = kernel_of(text, cases.SPLIT.name.replace("split", "join"))
    right = False
    with suppress(*() if edit is None else (PtxError, MemoryFault)):
        first = kernel_of(edit(text) if edit else text, cases.SPLIT.name)
        right = judge(multiply(cases.SPLIT, first, problem, join).operands) <= 1
    assert right == (edit is None)


@pytest.mark.slow
@pytest.mark.parametrize("case", [case for case in cases.LINEAR.values() if case[0].architecture == "sm_80"])
def test_the_same_on_blackwell(ptx, case):
    """For which nvcc writes another text."""
    kernel = replace(case[0], architecture="sm_120")
    assert judge(multiply(kernel, program_of(ptx, kernel), case[1]).operands) <= 1


def test_three_tiles_are_on_their_way_while_one_is_multiplied(ptx):
    kernel, problem = DEEP
    blocks, products, copies = 4, 16, (64 + 64) * 64 // 16
    assert overlapping(ptx, kernel, problem) == blocks * products * copies * (3 + 3 + 3 + 3 + 2 + 1)


@pytest.mark.slow_after(5)
@pytest.mark.parametrize(
    "kernel", dict.fromkeys(kernel for kernel, _ in cases.LINEAR.values()), ids=lambda each: each.name
)
def test_struct_is_the_one_that_the_kernel_reads(ptx, kernel):
    assert misread(program_of(ptx, kernel), LinearParams) == []


@pytest.mark.slow_after(3)
@pytest.mark.parametrize(("edit", "case"), PLANTED.values(), ids=PLANTED.keys())
def test_planted_mistake_is_seen(ptx, edit, case):
    kernel, problem = case
    seen = overlapping(ptx, kernel, problem, edit)
    assert seen is None or seen != overlapping(ptx, kernel, problem)


@pytest.mark.slow
@pytest.mark.parametrize("case", dict.fromkeys(case for _, case in PLANTED.values()), ids=lambda case: case[0].name)
def test_without_a_mistake_nothing_is_seen(ptx, case):
    assert overlapping(ptx, *case) is not None
