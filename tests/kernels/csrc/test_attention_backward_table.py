"""Gradients by a block table on the emulator: those of the reference, and exactly 0 where nothing is seen."""

from dataclasses import replace

import emulated_backward
import pytest
import torch
from backward_installed import PASSED
from block_tables import TABLES
from emulated_backward import GRADIENTS, BackwardEmulator, Case, EmulatedBackwardLibrary, judge
from emulated_instances import EmulatedAttention
from emulated_kernels import Problem

from mezzotint.attention.blocks.chosen import hashed_table
from mezzotint.attention.blocks.grids import Grid, window_table
from mezzotint.attention.blocks.kernel_tables import transposed
from mezzotint.attention.blocks.kernels import kernel_attention
from mezzotint.attention.blocks.patterns import bigbird_table
from mezzotint.attention.blocks.reference import block_reference
from mezzotint.attention.compiled import CompiledAttention

pytestmark = pytest.mark.requires_command("g++", "sudo apt-get install g++")

BASE = Problem(head_dim=64, heads=1, kv_heads=1, nq=100, nk=150, table="random")
CASES = {
    "shared, in splits": Case(problem=replace(BASE, nq=150), lse_gradient=True, splits=2),
    "by heads of a group": Case(problem=replace(BASE, heads=2, nk=70, table="random heads")),
    "by batch": Case(problem=replace(BASE, batch=2, nk=70, table="whole batch", key_lengths=(0, 65))),
    "rows of 128": Case(problem=replace(BASE, nq=150, nk=70, table_queries=128)),
    "half a row of 128": Case(problem=replace(BASE, nq=40, nk=70, table_queries=128, table="all")),
    "one query, one key": Case(problem=replace(BASE, nq=1, nk=1)),
    "no keys": Case(problem=replace(BASE, nq=5, nk=0)),
    "nothing in any row": Case(problem=replace(BASE, nq=70, table="empty")),
    "causal": Case(problem=replace(BASE, nq=70, nk=100, causal=True), unordered=True),
}
SLOW = {
    "by batch and heads": Case(problem=replace(BASE, batch=2, heads=4, kv_heads=2, table="random both")),
    "more keys than queries, in splits": Case(problem=replace(BASE, nk=400), splits=3),
    "key mask": Case(problem=replace(BASE, batch=2, key_mask="random")),
    "outliers": Case(problem=replace(BASE, outliers=True)),
    "early copies": Case(problem=replace(BASE, late_copies=False, stubborn=True)),
    "one warp far ahead": Case(problem=replace(BASE, nq=400, stubborn=True)),
    "Turing": Case(problem=replace(BASE, dtype=torch.float16, turing=True)),
    **{
        f"pattern {name}": Case(problem=replace(BASE, heads=2, nq=n, nk=n, table=name))
        for name, (n, _) in TABLES.items()
    },
    **{
        f"d{head_dim}, {dtype}": Case(problem=replace(BASE, head_dim=head_dim, dtype=dtype))
        for head_dim in (32, 40, 64, 72, 80, 88, 96, 112, 128, 160, 256, 384, 512)
        for dtype in (torch.float16, torch.bfloat16)
    },
}
PATTERN = {name: Case(problem=replace(BASE, nq=n, nk=n, table=name)) for name, n in (("local", 300), ("bigbird", 500))}


@pytest.fixture
def emulator(emulated):
    """The backward pass on the emulator."""
    return BackwardEmulator(emulated)


def seen(tensors):
    """Which queries see something, `(b, h, nq)`, and which keys are seen by a head of their group, `(b, kv, nk)`."""
    shown = ~tensors.forward.hidden()
    return shown.any(-1), shown.any(-2).unflatten(1, (tensors.case.problem.kv_heads, -1)).any(2)


def check(emulator, case, number):
    tensors, report = emulator.compute(case, number)
    assert report.error == b"" and report.bank_conflicts == 0
    errors = judge(tensors)
    assert max(errors.values()) <= 1, errors
    seeing, are_seen = seen(tensors)
    assert not tensors.dq[~seeing].any() and not tensors.dk[~are_seen].any() and not tensors.dv[~are_seen].any()


@pytest.mark.parametrize(
    "case",
    [
        *(pytest.param(case, id=name) for name, case in (CASES | PATTERN).items()),
        *(pytest.param(case, id=name, marks=pytest.mark.slow) for name, case in SLOW.items()),
    ],
)
def test_gradients_by_a_table(emulator, case):
    numbers = emulator.numbers(case)
    assert numbers
    for number in numbers:
        check(emulator, case, number)


def test_cases_have_what_nothing_sees():
    found = [seen(emulated_backward.BackwardTensors(case)) for case in CASES.values()]
    assert any(not queries.all() and queries.any() for queries, _ in found)
    assert any(not keys.all() and keys.any() for _, keys in found)


@pytest.mark.parametrize(("nq", "nk"), [(128, 128), (70, 100)])
def test_a_table_of_all_blocks_changes_no_bit(emulator, nq, nk):
    table = Case(problem=replace(BASE, nq=nq, nk=nk, table="all", outliers=True))
    dense = replace(table, problem=replace(table.problem, table=None))
    for number in emulator.numbers(table):
        found, wanted = (emulator.compute(each, number)[0] for each in (table, dense))
        assert all(torch.equal(getattr(found, name), getattr(wanted, name)) for name in GRADIENTS)


def test_blocks_that_no_row_names_are_not_computed(emulator):
    table = Case(problem=replace(BASE, nq=300, nk=300, table="neighbours"))
    dense = replace(table, problem=replace(table.problem, table=None))
    (number,) = emulator.numbers(table)
    products = [emulator.compute(each, number)[1].products for each in (dense, table)]
    assert products[1] * 25 == products[0] * (2 + 3 + 3 + 3 + 2)


WRONG = {
    "bits as they were": lambda table: replace(transposed(table), bits=table.bits),
    "rows that begin an entry late": lambda table: replace(transposed(table), row_ptr=transposed(table).row_ptr + 1),
}


@pytest.mark.parametrize("wrong", WRONG.values(), ids=WRONG.keys())
def test_a_wrong_table_is_seen(emulator, monkeypatch, wrong):
    monkeypatch.setattr(emulated_backward, "transposed", wrong)
    case = Case(problem=replace(BASE, nq=128, nk=128, heads=2, table="random heads"))
    assert not any(emulator.run(case, number).right for number in emulator.numbers(case))


FROM_TENSORS = {
    "windows of text and image": lambda q: window_table(Grid(height=9, width=8, text_before=20), 1),
    "by hash": lambda q: hashed_table(q, 8),
    "small blocks": lambda q: bigbird_table(q.shape[2], 1, block=16),
}


@pytest.mark.parametrize("name", FROM_TENSORS)
def test_from_tensors_to_gradients(emulated, install_backward, name):
    """With tokens put in order before and back after."""
    backward = install_backward(EmulatedBackwardLibrary(emulated), PASSED)
    kernels, generator = CompiledAttention(EmulatedAttention(emulated)), torch.Generator().manual_seed(0)
    q, k, v, gradient = (torch.randn(1, 2, 92, 64, generator=generator).bfloat16() for _ in range(4))
    q, k, v = (each.requires_grad_() for each in (q, k, v))
    table = FROM_TENSORS[name](q)
    out, _ = kernel_attention(kernels, q, k, v, table)
    found = torch.autograd.grad(out, (q, k, v), gradient)
    exact = torch.autograd.grad(block_reference(q, k, v, table)[0], (q, k, v), gradient.double())
    for ours, right in zip(found, exact, strict=True):
        torch.testing.assert_close(ours, right, rtol=0.03, atol=0.03)
    assert backward.launches == 1
