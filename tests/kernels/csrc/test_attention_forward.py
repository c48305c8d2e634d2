"""Every instance on the emulator, by fuzzed problems and by those that a kernel most easily gets wrong."""

import itertools
import random

import pytest
import torch
from emulated_instances import in_turn
from emulated_kernels import CODES, DROPOUT, HALF_SUMS, HOPPER, INT8, INT8_ALL, INT8_FP8, Emulator, Problem, judge
from emulator_build import LEFT_OUT

pytestmark = pytest.mark.requires_command("g++", "sudo apt-get install g++")

HEAD_DIMS = (32, 40, 64, 72, 80, 88, 96, 112, 128, 160, 256, 384, 512)
DTYPES = (torch.float16, torch.bfloat16)
# What a problem has besides queries, keys and values; each head size and format meets each of these.
KINDS = (
    {},
    {"key_lengths": "random"},
    {"causal": True},
    {"key_mask": "random"},
    {"key_mask": "none_seen"},
    {"bias": "full"},
    {"bias": "heads"},
    {"bias": "keys"},
    {"bias": "column"},
    {"bias": "lowest"},
    {"outliers": True},
    {"causal": True, "key_lengths": "random"},
    {"causal": True, "key_mask": "random", "bias": "full"},
    {"key_lengths": "random", "bias": "keys"},
    {"outliers": True, "key_mask": "random"},
    {"outliers": True, "causal": True},
    {},
)
# What those with 8-bit scores have.
INT8_HEAD_DIMS = (64, 72, 80, 96, 112, 128)
INT8_KINDS = (
    {},
    {"uneven": True},
    {"uneven": True, "key_lengths": "random"},
    {"outliers": True, "causal": True},
    {"uneven": True, "key_mask": "none_seen"},
    {"outliers": True, "bias": "full"},
)
# What those with 8-bit values, too, have: no masks, biases and tables.
INT8_ALL_KINDS = (
    {},
    {"uneven": True},
    {"uneven": True, "key_lengths": "random"},
    {"outliers": True, "causal": True},
    {"same_values": True},
)
# What those with sums in float16 have.
HALF_SUM_HEAD_DIMS = (64, 128)
HALF_SUM_KINDS = (
    {},
    {"outliers": True},
    {"key_lengths": "random", "values_by": 1e-4},
    {"causal": True},
    {"key_mask": "none_seen"},
    {"outliers": True, "bias": "full"},
)
MOST_PRODUCTS = 4_000_000  # of a problem, with its ragged tiles filled up: a quarter of a second
TURING_BYTES = 64 * 1024


def fuzzed(head_dim, dtype, number, kind):
    """A problem of that kind; the same in every run."""
    lots = random.Random(f"{head_dim} {dtype} {number}")
    nq, nk = lots.choice((1, 5, 31, 64, 65, 100, 130, 200)), lots.choice((1, 7, 16, 33, 64, 65, 77, 90, 129, 200))
    kv_heads, shared, batch = lots.choice((1, 2)), lots.choice((1, 1, 2, 3)), lots.choice((1, 2, 3))
    if head_dim >= 256:
        nq, nk = min(nq, 65), min(nk, 90)
    while batch * kv_heads * shared * -(-nq // 64) * -(-nk // 64) * 64 * 64 * head_dim > MOST_PRODUCTS:
        if batch * kv_heads * shared == 1:
            break
        batch, kv_heads, shared = (1, kv_heads, shared) if batch > 1 else (1, 1, shared - 1 or 1)
    if "key_lengths" in kind:
        kind = kind | {"key_lengths": tuple(lots.choice((0, 1, nk // 2, nk - 1, nk)) for _ in range(batch))}
    return Problem(
        head_dim=head_dim,
        dtype=dtype,
        batch=batch,
        heads=kv_heads * shared,
        kv_heads=kv_heads,
        nq=nq,
        nk=nk,
        tokens_first=lots.random() < 0.5,
        bias_float=lots.random() < 0.5,
        scale=lots.choice((None, None, 0.3)),
        # the wide ones do not all fit there, and it has no 8-bit floats
        turing=dtype is torch.float16 and head_dim <= 160 and number % 2 == 1 and "int8_fp8" not in kind,
        late_copies=lots.random() < 0.7,
        stubborn=number % 4 == 0,
        tiles_per_block=lots.choice((1, 2, 3)),
        seed=number,
        **kind,
    )


FUZZED = [
    fuzzed(head_dim, dtype, number, kind)
    for head_dim, dtype in itertools.product(HEAD_DIMS, DTYPES)
    for number, kind in enumerate(KINDS)
] + [
    fuzzed(head_dim, dtype, number, {"int8": True} | kind)
    for head_dim, dtype in itertools.product(INT8_HEAD_DIMS, DTYPES)
    for number, kind in enumerate(INT8_KINDS)
]
FUZZED += [
    fuzzed(head_dim, dtype, number, {"int8_all": True} | kind)
    for head_dim, dtype in itertools.product(INT8_HEAD_DIMS, DTYPES)
    for number, kind in enumerate(INT8_ALL_KINDS)
]
FUZZED += [
    fuzzed(head_dim, dtype, number, {"half_sums": True} | kind)
    for head_dim, dtype in itertools.product(HALF_SUM_HEAD_DIMS, DTYPES)
    for number, kind in enumerate(HALF_SUM_KINDS)
]
FUZZED += [
    fuzzed(head_dim, dtype, number, {"int8_fp8": True} | kind)
    for head_dim, dtype in itertools.product(HALF_SUM_HEAD_DIMS, DTYPES)
    for number, kind in enumerate(INT8_ALL_KINDS[:-1])  # the same values are not exact in sums of 16 bits
]


def quick(problem):
    """Whether its kernels are there without asking for all."""
    return f"attention/{str(problem.dtype).removeprefix('torch.')}_{problem.head_dim}" not in LEFT_OUT


def name_of(problem):
    words = [f"d{problem.head_dim}", str(problem.dtype).removeprefix("torch."), f"{problem.nq}x{problem.nk}"]
    words += (
        ["int8"] * problem.int8
        + ["int8-all"] * problem.int8_all
        + ["half-sums"] * problem.half_sums
        + ["int8-fp8"] * problem.int8_fp8
        + ["sm_75"] * problem.turing
        + ["causal"] * problem.causal
    )
    words += ["lengths"] * bool(problem.key_lengths)
    return "-".join([*words, *filter(None, (problem.key_mask, problem.bias)), str(problem.seed)])


def instances(emulator, problem):
    """The numbers of the instances that can do it on the architecture that it asks for."""
    numbers = emulator.numbers(problem)
    return [n for n in numbers if not problem.turing or emulator.instances[n].shared_bytes <= TURING_BYTES]


@pytest.fixture(scope="module")
def choice(quick_library):
    """For each problem one of these, so that all instances have their turn."""
    emulator = Emulator(quick_library)
    return in_turn({problem: instances(emulator, problem) for problem in FUZZED})


def check(emulator, problem, number):
    verdict = emulator.run(problem, number)
    assert verdict.error == ""
    assert verdict.output <= 1
    assert verdict.lse <= 1
    assert verdict.bank_conflicts == 0
    return verdict


@pytest.mark.slow_after(110)
@pytest.mark.parametrize(
    "problem",
    [pytest.param(each, id=name_of(each), marks=() if quick(each) else pytest.mark.slow) for each in FUZZED],
)
def test_fuzzed_problem(emulator, choice, problem):
    check(emulator, problem, choice[problem])


def test_fuzzed_problems_leave_nothing_out(emulator, choice):
    assert len(FUZZED) >= 400
    whole = {number for number, each in enumerate(emulator.instances) if each.kind not in (DROPOUT, HOPPER)}
    assert set(choice.values()) == whole  # test_attention_dropout.py and test_attention_hopper.py have the others
    assert {emulator.instances[number].head_dim for number in whole} == set(HEAD_DIMS)
    few, many = HALF_SUM_HEAD_DIMS, INT8_HEAD_DIMS
    for kind, sizes in ((INT8, many), (INT8_ALL, many), (HALF_SUMS, few), (INT8_FP8, few)):
        assert {each.head_dim for each in emulator.instances if each.kind == kind} == set(sizes)
    for what in ("turing", "late_copies", "stubborn", "tokens_first", "causal"):
        assert {getattr(problem, what) for problem in FUZZED} == {False, True}, what
    assert any(problem.heads > problem.kv_heads > 1 for problem in FUZZED)
    assert any(0 in (problem.key_lengths or ()) for problem in FUZZED)
    assert any(problem.turing and problem.head_dim % 16 for problem in FUZZED)


HARD = {
    "one query, one key": Problem(head_dim=64, nq=1, nk=1),
    "no keys": Problem(head_dim=64, nk=0),
    "int8, no keys": Problem(head_dim=64, nk=0, int8=True),
    "many tiles of keys": Problem(head_dim=64, nq=20, nk=1100, heads=1, kv_heads=1, outliers=True),
    "maxima that creep": Problem(head_dim=64, nq=20, nk=1100, heads=1, kv_heads=1, creeping=True),
    "int8, maxima that creep": Problem(head_dim=64, nq=20, nk=1100, heads=1, kv_heads=1, creeping=True, int8=True),
    "batches that lie far apart": Problem(head_dim=64, batch=2, nq=20, nk=20, far="batch"),
    "heads that lie far apart": Problem(head_dim=64, nq=20, nk=20, far="head"),
    "tokens that lie far apart": Problem(head_dim=64, nq=140, nk=150, heads=1, kv_heads=1, far="token"),
    "int8, tokens that lie far apart": Problem(head_dim=64, nq=70, nk=150, heads=1, kv_heads=1, far="token", int8=True),
    "one warp far ahead": Problem(head_dim=64, nq=130, nk=200, stubborn=True),
    "a text, one warp far ahead": Problem(head_dim=64, nq=700, nk=77, tiles_per_block=5, stubborn=True),
    "many tiles of queries": Problem(head_dim=64, nq=700, nk=20, heads=1, kv_heads=1),
    "full tiles": Problem(head_dim=64, nq=128, nk=128),
    "more queries than keys, causal": Problem(head_dim=64, nq=150, nk=60, causal=True),
    "more keys than queries, causal": Problem(head_dim=64, nq=60, nk=250, causal=True),
    "no batch sees a key": Problem(head_dim=64, batch=2, key_lengths=(0, 0)),
    "lengths beyond the keys and below 0": Problem(head_dim=64, batch=3, nk=70, key_lengths=(500, -3, 70)),
    "one head of keys for eight": Problem(head_dim=64, heads=8, kv_heads=1),
    "keys of which the first tile is hidden": Problem(head_dim=72, nk=200, key_mask="late"),
    "Turing, head size with a rest": Problem(head_dim=72, dtype=torch.float16, turing=True, nq=100, nk=100),
    "early copies": Problem(head_dim=128, nq=70, nk=300, heads=1, kv_heads=1, late_copies=False),
    "one tensor for queries, keys and values": Problem(head_dim=40, nq=90, nk=90, fused=True),
    "bias of the lowest number": Problem(head_dim=64, bias="lowest", key_lengths=(10,), nk=100),
    "bias, rows of an odd number of keys": Problem(head_dim=64, batch=2, nk=77, bias="full"),
    "bias of 16 bits, rows of an odd number": Problem(head_dim=64, batch=2, nk=77, bias="full", bias_float=False),
    "bias in pairs, a last key alone": Problem(head_dim=64, batch=2, nk=77, bias="padded", bias_float=False),
    "bias that begins between two pairs": Problem(head_dim=64, nk=128, bias="moved"),
    "bias of 16 bits between two pairs": Problem(head_dim=64, nk=128, bias="moved", bias_float=False),
    "bias of whole tiles for many queries": Problem(head_dim=64, nq=130, nk=192, bias="heads", bias_float=False),
    "int8, bias in pairs": Problem(head_dim=64, batch=2, nk=77, bias="padded", int8=True, uneven=True),
    "bias and rows that see nothing": Problem(head_dim=64, nq=150, nk=60, causal=True, bias="full"),
    "bias where lengths end within a pair": Problem(head_dim=64, batch=2, nk=90, bias="full", key_lengths=(65, 0)),
    "a mask whose last word is ragged": Problem(head_dim=64, batch=3, nk=97, key_mask="random", causal=True, nq=97),
    "a mask of 48 keys on a wide head": Problem(
        head_dim=512, dtype=torch.float16, heads=1, kv_heads=1, nq=20, nk=48, key_mask="random"
    ),
    "rows of nothing but the lowest bias": Problem(
        head_dim=64, batch=4, nq=20, nk=20, key_lengths=(1, 1, 1, 1), bias="lowest"
    ),
    "head size 512 on Turing": Problem(head_dim=512, dtype=torch.float16, turing=True, heads=1, kv_heads=1, nq=40),
    "a text for many queries": Problem(head_dim=64, nq=700, nk=77, heads=1, kv_heads=1, tiles_per_block=5),
    "a text of no tokens": Problem(head_dim=40, batch=2, nq=100, nk=77, key_lengths=(0, 77)),
    "a text on Turing": Problem(head_dim=40, dtype=torch.float16, turing=True, nq=200, nk=77),
    "int8, keys that are all the same": Problem(head_dim=64, nk=70, int8=True, same_keys=True),
    "int8, no batch sees a key": Problem(head_dim=64, batch=2, nk=70, key_lengths=(0, 0), int8=True),
    "int8, values beyond float16": Problem(head_dim=64, nk=70, int8=True, values_by=1e5),
    "int8, one tensor for all": Problem(head_dim=72, nq=90, nk=90, int8=True, fused=True),
    "int8 on Turing": Problem(head_dim=72, dtype=torch.float16, nq=90, nk=90, int8=True, turing=True),
    "sums in float16, no keys": Problem(head_dim=64, nk=0, half_sums=True),
    "sums in float16, maxima that creep": Problem(
        head_dim=64, dtype=torch.float16, nq=20, nk=1100, heads=1, kv_heads=1, creeping=True, half_sums=True
    ),
    "sums in float16, values beyond it": Problem(head_dim=64, nk=70, values_by=1e5, half_sums=True),
    "sums in float16, its largest values": Problem(
        head_dim=64, dtype=torch.float16, nk=200, values_by=1e4, half_sums=True
    ),
    "sums in float16, its smallest values": Problem(
        head_dim=64, dtype=torch.float16, nk=200, values_by=1e-5, half_sums=True
    ),
    "sums in float16, every key has the same weight": Problem(head_dim=128, nk=200, same_keys=True, half_sums=True),
    "sums in float16, a block table": Problem(head_dim=64, nq=140, nk=200, table="random heads", half_sums=True),
    "all int8, no keys": Problem(head_dim=64, nk=0, int8_all=True),
    "all int8, no batch sees a key": Problem(head_dim=64, batch=2, nk=70, key_lengths=(0, 0), int8_all=True),
    "all int8, maxima that creep": Problem(
        head_dim=64, nq=20, nk=1100, heads=1, kv_heads=1, creeping=True, int8_all=True
    ),
    "all int8, one key above all": Problem(head_dim=64, nk=200, outliers=True, int8_all=True, same_values=True),
    "all int8, scores far from 0": Problem(head_dim=64, nk=150, int8_all=True, outliers=True, scale=3e3),
    "all int8, keys that are all the same": Problem(head_dim=64, nk=70, int8_all=True, same_keys=True),
    "all int8, values beyond float16": Problem(head_dim=64, nk=70, int8_all=True, values_by=1e5),
    "all int8, more queries than keys, causal": Problem(head_dim=64, nq=150, nk=60, causal=True, int8_all=True),
    "all int8, one head of keys for eight": Problem(head_dim=64, heads=8, kv_heads=1, int8_all=True),
    "all int8, tokens that lie far apart": Problem(
        head_dim=64, nq=70, nk=150, heads=1, kv_heads=1, far="token", int8_all=True
    ),
    "all int8, one warp far ahead": Problem(head_dim=64, nq=130, nk=200, stubborn=True, int8_all=True),
    "all int8, one tensor for all": Problem(head_dim=72, nq=90, nk=90, int8_all=True, fused=True),
    "8-bit floats, no keys": Problem(head_dim=64, nk=0, int8_fp8=True),
    "8-bit floats, maxima that creep": Problem(
        head_dim=64, nq=20, nk=1100, heads=1, kv_heads=1, creeping=True, int8_fp8=True
    ),
    "8-bit floats, the largest sums": Problem(
        head_dim=64, nk=128, int8_fp8=True, same_keys=True, same_values=True, values_by=1e5
    ),
    "8-bit floats, scores far from 0": Problem(head_dim=64, nk=150, int8_fp8=True, outliers=True, scale=3e3),
    "all int8 on Turing": Problem(head_dim=72, dtype=torch.float16, nq=90, nk=90, int8_all=True, turing=True),
}


@pytest.mark.parametrize("problem", HARD.values(), ids=HARD.keys())
def test_hard_problem(emulator, problem):
    assert instances(emulator, problem)
    for number in instances(emulator, problem):
        check(emulator, problem, number)


@pytest.mark.parametrize("late_copies", [True, False], ids=["late", "early"])
def test_order_of_warps_does_not_matter(emulator, late_copies):
    problem = Problem(head_dim=64, nq=130, nk=200, late_copies=late_copies)
    for number in instances(emulator, problem):
        first, *others = (emulator.compute(problem, number, order=order).tensors for order in (1, 2, 3))
        for other in others:
            assert torch.equal(first.out, other.out)
            assert torch.equal(first.lse, other.lse)


def test_a_wrong_answer_is_seen(emulator):
    problem = Problem(head_dim=64)
    tensors = emulator.compute(problem, instances(emulator, problem)[0]).tensors
    assert max(judge(tensors)) <= 1
    tensors.out[0, 1, 5, 7] += 0.05
    tensors.lse[0, 0, 3] += 0.01
    assert min(judge(tensors)) > 1


def test_numbers_of_formats_are_those_of_the_c_abi():
    assert {str(dtype).removeprefix("torch."): code for dtype, code in CODES.items()} == {
        "float16": 0,
        "bfloat16": 1,
        "float32": 2,
    }
