"""Every backward instance on the emulator, by fuzzed problems and by those that a kernel most easily gets wrong."""

import itertools
import random

import pytest
import torch
from backward_tiles import Tiles, gradients_by_tiles
from emulated_backward import GRADIENTS, BackwardEmulator, BackwardTensors, Case, judge
from emulated_instances import in_turn
from emulated_kernels import Problem
from emulator_build import LEFT_OUT

pytestmark = pytest.mark.requires_command("g++", "sudo apt-get install g++")

HEAD_DIMS = (32, 40, 64, 72, 80, 88, 96, 112, 128, 160, 256, 384, 512)
DTYPES = (torch.float16, torch.bfloat16)
# What a problem has besides its tensors; each head size and format meets each of these.
KINDS = (
    {"causal": True},
    {"key_mask": "random", "grouped": True},
    {},
    {"key_lengths": "random"},
    {"key_mask": "none_seen", "lse_gradient": True},
    {"outliers": True, "unordered": True},
    {"causal": True, "key_lengths": "random", "lse_gradient": True},
    {"causal": True, "key_mask": "random", "grouped": True, "unordered": True},
)
QUICK = 2  # of these, for kernels that are there without asking for all


def fuzzed(head_dim, dtype, number, kind):
    """A case of that kind; the same in every run."""
    lots = random.Random(f"{head_dim} {dtype} {number}")
    wide = head_dim >= 256
    # Errors of a single query are luck; those of several are what the rule is about.
    nq = lots.choice((5, 17, 31) if wide else (5, 31, 64, 65, 100))
    nk = lots.choice((7, 16, 33) if wide else (7, 33, 64, 77, 130))
    batch = 1 if wide else lots.choice((1, 2))
    kind = dict(kind)
    if "key_lengths" in kind:
        kind["key_lengths"] = tuple(lots.choice((0, 1, nk // 2, nk - 1, nk)) for _ in range(batch))
    unordered, lse_gradient = kind.pop("unordered", False), kind.pop("lse_gradient", False)
    heads = 3 if kind.pop("grouped", False) and not wide else 1
    problem = Problem(
        head_dim=head_dim,
        dtype=dtype,
        batch=batch,
        heads=heads,
        kv_heads=1,
        nq=nq,
        nk=nk,
        tokens_first=lots.random() < 0.5,
        scale=lots.choice((None, None, 0.3)),
        turing=dtype is torch.float16 and head_dim < 384 and number % 2 == 1,
        late_copies=lots.random() < 0.7,
        stubborn=number % 4 == 0,
        seed=number,
        **kind,
    )
    return Case(problem=problem, splits=lots.choice((1, 2)), unordered=unordered, lse_gradient=lse_gradient)


FUZZED = [
    fuzzed(head_dim, dtype, number, kind)
    for head_dim, dtype in itertools.product(HEAD_DIMS, DTYPES)
    for number, kind in enumerate(KINDS)
]


def quick(case):
    """Whether it is one of the first, and its kernels are there without asking for all."""
    problem = case.problem
    name = f"backward/backward_{str(problem.dtype).removeprefix('torch.')}_{problem.head_dim}"
    return problem.seed < QUICK and name not in LEFT_OUT


def name_of(case):
    problem = case.problem
    words = [f"d{problem.head_dim}", str(problem.dtype).removeprefix("torch."), f"{problem.nq}x{problem.nk}"]
    words += ["sm_75"] * problem.turing + ["causal"] * problem.causal + ["lengths"] * bool(problem.key_lengths)
    return "-".join([*words, *filter(None, [problem.key_mask]), *["unordered"] * case.unordered, str(problem.seed)])


@pytest.fixture
def emulator(emulated):
    """The backward pass on the emulator."""
    return BackwardEmulator(emulated)


@pytest.fixture(scope="module")
def choice(quick_library):
    """For each case one of its instances, so that all instances have their turn."""
    emulator = BackwardEmulator(quick_library)
    return in_turn({case: emulator.numbers(case) for case in FUZZED})


def check(emulator, case, number):
    verdict = emulator.run(case, number)
    assert verdict.error == ""
    assert max(verdict.errors.values()) <= 1, verdict.errors
    assert verdict.bank_conflicts == 0


@pytest.mark.parametrize(
    "case", [pytest.param(each, id=name_of(each), marks=() if quick(each) else pytest.mark.slow) for each in FUZZED]
)
def test_fuzzed_case(emulator, choice, case):
    check(emulator, case, choice[case])


def test_fuzzed_cases_leave_nothing_out(emulator, choice):
    whole = {number for number, each in enumerate(emulator.instances) if not each.dropout}
    assert set(choice.values()) == whole  # test_attention_dropout.py has the others
    assert {each.head_dim for each in emulator.instances} == set(HEAD_DIMS)
    for what in ("turing", "late_copies", "stubborn", "tokens_first", "causal"):
        assert {getattr(case.problem, what) for case in FUZZED} == {False, True}, what
    for what in ("unordered", "lse_gradient"):
        assert {getattr(case, what) for case in FUZZED} == {False, True}, what
    assert any(case.problem.heads > case.problem.kv_heads for case in FUZZED)
    assert any(0 in (case.problem.key_lengths or ()) for case in FUZZED)
    assert len([case for case in FUZZED if quick(case)]) >= 8


ONE = {"head_dim": 64, "heads": 1, "kv_heads": 1}
HARD = {
    "one query, one key": Case(problem=Problem(**ONE, nq=1, nk=1)),
    "no keys": Case(problem=Problem(**ONE, nq=5, nk=0)),
    "no batch sees a key": Case(problem=Problem(**ONE, batch=2, nq=20, nk=20, key_lengths=(0, -3))),
    "more queries than keys, causal": Case(problem=Problem(**ONE, nq=150, nk=60, causal=True)),
    "more keys than queries, causal": Case(problem=Problem(**ONE, nq=20, nk=150, causal=True), splits=2),
}
SLOW = {
    "many tiles of keys in three splits": Case(problem=Problem(**ONE, nq=70, nk=500), splits=3),
    "many tiles of queries": Case(problem=Problem(**ONE, nq=700, nk=20)),
    "one head of keys for eight": Case(problem=Problem(head_dim=64, heads=8, kv_heads=1, nq=70, nk=70)),
    "several batches and groups": Case(problem=Problem(head_dim=64, batch=3, heads=4, kv_heads=2, nq=70, nk=150)),
    "lengths beyond the keys and below 0": Case(
        problem=Problem(head_dim=64, batch=3, nk=70, key_lengths=(500, -3, 70)), splits=2
    ),
    "batches that lie far apart": Case(problem=Problem(head_dim=64, batch=2, nq=20, nk=20, far="batch")),
    "heads that lie far apart": Case(problem=Problem(head_dim=64, nq=20, nk=20, far="head")),
    "tokens that lie far apart": Case(problem=Problem(**ONE, nq=140, nk=150, far="token")),
    "one warp far ahead": Case(problem=Problem(head_dim=64, nq=130, nk=200, stubborn=True)),
    "one tensor for queries, keys and values": Case(problem=Problem(head_dim=40, nq=90, nk=90, fused=True)),
    "a mask whose second half is seen": Case(problem=Problem(head_dim=72, nk=200, key_mask="late")),
    "maxima that creep": Case(problem=Problem(**ONE, nq=20, nk=1100, creeping=True)),
    "Turing, slices": Case(problem=Problem(head_dim=256, dtype=torch.float16, turing=True, heads=1, kv_heads=1, nq=20)),
}


@pytest.mark.parametrize(
    "case",
    [
        *(pytest.param(case, id=name) for name, case in HARD.items()),
        *(pytest.param(case, id=name, marks=pytest.mark.slow) for name, case in SLOW.items()),
    ],
)
def test_hard_case(emulator, case):
    numbers = emulator.numbers(case)
    assert numbers
    for number in numbers:
        check(emulator, case, number)


@pytest.mark.parametrize("late_copies", [True, pytest.param(False, marks=pytest.mark.slow)], ids=["late", "early"])
def test_ordered_sums_have_the_same_bits_whatever_the_order_of_warps(emulator, late_copies):
    case = Case(problem=Problem(**ONE, nq=100, nk=140, late_copies=late_copies), splits=2)
    number = emulator.numbers(case)[-1]
    first, second = (emulator.compute(case, number, order=order)[0] for order in (1, 2))
    for name in GRADIENTS:
        assert torch.equal(getattr(first, name), getattr(second, name)), name


def test_a_wrong_gradient_is_seen():
    tensors = BackwardTensors(Case(problem=Problem(**ONE, nq=40, nk=50)))
    for name, right in zip(GRADIENTS, tensors.wanted(), strict=True):
        getattr(tensors, name).copy_(right)
    assert max(judge(tensors).values()) <= 1
    for name in GRADIENTS:
        getattr(tensors, name)[0, 0, 5, 7] += 0.1
    assert min(judge(tensors).values()) > 1


def test_what_is_wanted_is_what_tiles_give():
    """The gradients that all of the above is judged by, divided in another way."""
    tensors = BackwardTensors(Case(problem=Problem(**ONE, nq=40, nk=50, causal=True)))
    forward = tensors.forward
    q, k, v = (each.double() for each in (forward.q, forward.k, forward.v))
    out, lse = forward.wanted()
    again = gradients_by_tiles(
        tensors.gradient.double(),
        q,
        k,
        v,
        out,
        lse,
        hidden=forward.hidden(),
        scale=forward.scale,
        tiles=Tiles(queries=16, keys=32, splits=2),
    )
    for ours, other in zip(tensors.wanted(), again, strict=True):
        torch.testing.assert_close(ours, other)
