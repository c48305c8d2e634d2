"""The backward pass from the PTX that nvcc makes of the kernels: it is run, and gives the gradients of float64."""

import re

import pytest
import torch
from backward_tiles import Dropout
from emulated_backward import Case, judge
from emulated_kernels import Problem
from ptx import edits
from ptx.backward_launch import BackwardKernel, BackwardParams, backward_programs, derive
from ptx.edits import LEFT, RESULT, RIGHT, Edit, exchanged, replaced, waits
from ptx.memory import MemoryFault
from ptx.program import PtxError
from ptx.structs import misread

from kernel_build.sources import CSRC

pytestmark = pytest.mark.requires_command("g++", "sudo apt-get install g++")

FLOAT = torch.float16
KERNEL = BackwardKernel(instance="instance<float16, 64, Shape<1, 4, 64, 2>>")
ONE = {"head_dim": 64, "dtype": FLOAT, "heads": 1, "kv_heads": 1}
RAGGED = Case(problem=Problem(**ONE, nq=70, nk=90), lse_gradient=True)
CASES = {
    "ragged": (KERNEL, RAGGED),
    "causal, groups": (KERNEL, Case(problem=Problem(head_dim=64, dtype=FLOAT, heads=4, nq=40, nk=70, causal=True))),
    "lengths, splits": (KERNEL, Case(problem=Problem(**ONE, batch=2, nq=20, nk=150, key_lengths=(0, 140)), splits=2)),
    "mask, unordered": (
        KERNEL,
        Case(problem=Problem(**ONE, batch=2, nq=20, nk=100, key_mask="none_seen"), unordered=True),
    ),
    "table": (KERNEL, Case(problem=Problem(**ONE, nq=100, nk=90, table="random"))),
    "dropout": (
        BackwardKernel(instance="dropout_instance<float16, 64, Shape<1, 4, 64, 2>>"),
        Case(problem=Problem(**ONE, nq=40, nk=70, dropout=Dropout(kept=200, seed=2**40 + 1))),
    ),
    "Turing": (BackwardKernel(instance=KERNEL.instance, architecture="sm_75"), RAGGED),
    "Hopper": (BackwardKernel(instance=KERNEL.instance, architecture="sm_90"), RAGGED),
}


@pytest.mark.slow_after(3)
@pytest.mark.parametrize(("kernel", "case"), CASES.values(), ids=CASES.keys())
def test_ptx_gives_the_gradients_of_float64(ptx, kernel, case):
    errors = judge(derive(kernel, backward_programs(ptx, kernel), case))
    assert max(errors.values()) <= 1, errors


@pytest.mark.parametrize("architecture", ["sm_80", "sm_90"])
def test_struct_is_the_one_that_the_kernels_read(ptx, architecture):
    kernel = BackwardKernel(instance=KERNEL.instance, architecture=architecture)
    assert [misread(each, BackwardParams) for each in backward_programs(ptx, kernel)] == [[]] * 3


@pytest.mark.slow
def test_sums_are_added_a_pair_at_a_time_where_that_exists(ptx):
    found = {
        name: {each.name for each in backward_programs(ptx, kernel)[1].code if each.name.startswith(("atom", "red"))}
        for name, (kernel, _) in CASES.items()
    }
    assert found["Hopper"] == {"atom.global.add.v2"} and found["ragged"] == {"atom.global.add"}


PLANTED = {
    "a0 and a1 of products exchanged": exchanged(LEFT, 0),
    "b0 and b1 of products exchanged": exchanged(RIGHT, 0),
    "rows of sums exchanged": exchanged(RESULT, 1),
    "not transposed": edits.NO_TRANSPOSE,
    "queries are not waited for": waits(0, 1),
    "beyond the last query all is copied": edits.ALWAYS_COPIED,
    "pairs the other way round": Edit(r"(cvt\.rn\.f16x2\.f32 %\w+), (%\w+), (%\w+)", r"\1, \3, \2"),
    "sums replaced instead of added to": Edit(
        r"atom\.global\.add\.f32\s+%\w+, (\[[^\]]+\]), (%\w+);", r"st.global.f32 \1, \2;"
    ),
    "sums taken for integers": replaced("atom.global.add.f32", "atom.global.add.u32"),
    "inverses for exponents": replaced("ex2.approx.ftz.f32", "rcp.approx.ftz.f32"),
}


@pytest.mark.slow_after(5)
@pytest.mark.parametrize("edit", PLANTED.values(), ids=PLANTED.keys())
def test_planted_mistake_is_seen(ptx, edit):
    case = Case(problem=Problem(**ONE, nq=70, nk=130))
    try:
        errors = judge(derive(KERNEL, backward_programs(ptx, KERNEL, edit), case))
    except (PtxError, MemoryFault):
        return
    assert not max(errors.values()) <= 1


@pytest.mark.slow
@pytest.mark.parametrize("path", sorted((CSRC / "attention/backward/instances").glob("*_*_*.cu")), ids=lambda p: p.stem)
def test_ptx_of_every_instance(ptx, path):
    for line in re.findall(r"^ +(\w*instance<.+>)\(", path.read_text("utf-8"), re.MULTILINE):
        kernel = BackwardKernel(instance=line)
        dropout = Dropout(kept=200, seed=1) if line.startswith("dropout") else None
        sizes = {"heads": 1, "kv_heads": 1, "nq": 40, "nk": 70}
        problem = Problem(head_dim=kernel.head_dim, dtype=kernel.dtype, dropout=dropout, **sizes)
        errors = judge(derive(kernel, backward_programs(ptx, kernel), Case(problem=problem)))
        assert max(errors.values()) <= 1, (line, errors)
