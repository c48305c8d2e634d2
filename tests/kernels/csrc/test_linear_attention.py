"""Linear attention's kernels on the emulator, by fuzzed problems and by those that are most easily got wrong."""

import math
import random

import pytest
import torch
from attention_arguments import linear_attention_args
from emulated_linear_attention import LinearAttentionEmulator, Problem

from mezzotint_kernels.abi import Dtype
from mezzotint_kernels.linear_attention_abi import FeatureMap

pytestmark = pytest.mark.requires_command("g++", "sudo apt-get install g++")

DTYPES = (torch.float16, torch.bfloat16)
FUZZED = 4  # of each map and format
SMALL = {"heads": 1, "kv_heads": 1, "nq": 20}
HARD = {
    "one token": Problem(nq=1, nk=1, head_dim=8),
    "whole tiles": Problem(**SMALL | {"nq": 128}, nk=128, head_dim=64),
    "one more than a tile": Problem(**SMALL | {"nq": 129}, nk=65, head_dim=72),
    "more features than columns": Problem(**SMALL, map=FeatureMap.IDENTITY, features=136, head_dim=32),
    "more columns than features": Problem(**SMALL, map=FeatureMap.IDENTITY, features=8, head_dim=136, divided=False),
    "heads that share keys": Problem(heads=4, kv_heads=2, batch=2, nq=10, nk=70, tokens_first=True),
    "lengths": Problem(batch=3, key_lengths=(70, 3, 0), nq=10, nk=70, map=FeatureMap.ELU_PLUS_ONE),
    "lengths beyond the keys": Problem(batch=2, key_lengths=(-3, 200), nq=10, nk=70),
    "a mask": Problem(batch=2, key_mask=True, nq=10, map=FeatureMap.ELU_PLUS_ONE, tokens_first=True),
    "a mask and lengths": Problem(batch=2, key_mask=True, key_lengths=(66, 90), nq=10, splits=2),
    "splits without tokens": Problem(**SMALL, nk=130, splits=5),
    "no keys": Problem(**SMALL, nk=0),
    "sums beyond float16": Problem(**SMALL, nk=300, dtype=torch.float16, values_by=10000.0, splits=2),
    "faint values": Problem(**SMALL, dtype=torch.float16, values_by=2.0**-14),
    "a large epsilon": Problem(**SMALL, epsilon=30.0),
    "a least divisor": Problem(**SMALL, map=FeatureMap.IDENTITY, least=0.1, epsilon=0.0, dtype=torch.float16),
    "undivided": Problem(**SMALL, map=FeatureMap.IDENTITY, divided=False),
}


@pytest.fixture
def emulator(emulated):
    return LinearAttentionEmulator(emulated)


def fuzzed(which, dtype, number):
    """A problem with that map; the same in every run."""
    lots = random.Random(f"{which} {dtype} {number}")
    kv_heads = lots.choice((1, 2))
    return Problem(
        map=which,
        dtype=dtype,
        heads=kv_heads * lots.choice((1, 1, 2)),
        kv_heads=kv_heads,
        nq=lots.choice((1, 17, 64, 100)),
        nk=lots.choice((2, 63, 64, 90, 150)),
        head_dim=lots.choice((8, 32, 40, 72, 80)),
        features=lots.choice((0, 24, 96)) if which is FeatureMap.IDENTITY else 0,
        divided=which is not FeatureMap.IDENTITY,
        key_mask=lots.choice((False, True)),
        tokens_first=lots.choice((False, True)),
        splits=lots.choice((1, 2, 3)),
        turing=dtype is torch.float16 and number % 2 == 1,
        late_copies=number % 4 < 2,
        stubborn=number % 3 == 2,
        seed=number,
    )


def check(emulator, problem):
    verdict = emulator.run(problem)
    assert verdict.right, f"{verdict.error} {verdict.off:.3g} {verdict.bank_conflicts}: {problem}"
    return verdict.operands.out


@pytest.mark.parametrize("dtype", DTYPES, ids=["float16", "bfloat16"])
@pytest.mark.parametrize("which", FeatureMap, ids=lambda each: each.name.lower())
def test_fuzzed_problems(emulator, which, dtype):
    for number in range(FUZZED):
        check(emulator, fuzzed(which, dtype, number))


@pytest.mark.parametrize("problem", HARD.values(), ids=HARD.keys())
def test_hard_problem(emulator, problem):
    out = check(emulator, problem)
    if problem.nk == 0:
        assert (out == 0).all()


@pytest.mark.parametrize("splits", [1, 2, 3])
def test_the_same_splits_give_the_same_bits(emulator, splits):
    """Whichever warps come first."""
    problem = Problem(**SMALL, nk=180, splits=splits, map=FeatureMap.ELU_PLUS_ONE)
    first, *others = (emulator.run(problem, order=order).operands.out for order in (1, 2, 3))
    assert all(torch.equal(first, other) for other in others)


def test_exact_sums_are_the_same_in_any_splits(emulator):
    def of_integers(operands):
        for each in (operands.q, operands.k, operands.v):
            each.round_()

    problems = [Problem(**SMALL, nk=250, splits=splits) for splits in (1, 2, 4, 7)]
    first, *others = (emulator.run(problem, spoil=of_integers).operands.out for problem in problems)
    assert all(torch.equal(first, other) for other in others)


def test_splits_are_added_in_their_order(emulator):
    """2^24 + 1 - 2^24 is 0 in 32 bits, in any other order 1."""

    def three_tokens(operands):
        operands.q.fill_(1)
        operands.k.zero_()
        operands.v.zero_()
        operands.k[:, :, ::64] = 1
        for tile, value in enumerate((2.0**24, 1.0, -(2.0**24))):
            operands.v[:, :, 64 * tile] = value

    operands = emulator.run(Problem(**SMALL, nk=192, splits=3), spoil=three_tokens).operands
    assert (operands.out == 0).all()
    together = emulator.run(Problem(**SMALL, nk=192, splits=1), spoil=three_tokens).operands
    assert (together.out == 0).all()


def test_a_query_without_weights_gets_zeros(emulator):
    """Its divisor is epsilon, or 0."""
    for epsilon in (1e-15, 0.0):
        run = emulator.run(Problem(**SMALL, epsilon=epsilon), spoil=lambda operands: operands.q.abs_().neg_())
        assert (run.operands.out == 0).all()


@pytest.mark.parametrize("broken", [math.nan, math.inf])
def test_a_visible_number_that_is_none_shows(emulator, broken):
    run = emulator.run(Problem(**SMALL), spoil=lambda operands: operands.k[0, 0, 5].fill_(broken))
    assert not run.operands.out[0, 0].isfinite().any()


# ---- plans


def plan(emulator, architecture=86, multiprocessors=80, **changes):
    return emulator.plan(linear_attention_args(**changes), architecture, multiprocessors)


def test_tokens_are_split_as_far_as_the_device_needs_it(emulator):
    few = plan(emulator, nk=200)
    assert (few.supported, few.kernel, few.text) == (1, 1, b"linear attention float16 relu, 1 splits")
    assert plan(emulator, nk=4096).kernel == 16  # four tiles of 64 for each
    assert plan(emulator, nk=65536).kernel == 64
    assert plan(emulator, nk=65536, multiprocessors=20).kernel == 20
    assert plan(emulator, nk=65536, batch=200).kernel == 1


def test_the_workspace_has_the_sums_of_each_split_and_their_parts(emulator):
    heads, size = 4, 64 * 72
    for found in (plan(emulator, nk=200), plan(emulator, nk=4096)):
        assert found.workspace_bytes == heads * (found.kernel * size * 4 + 2 * size * 2 + 9 * 4)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"architecture": 75, "dtype": Dtype.BFLOAT16}, b"no linear attention in bfloat16 on architecture 75"),
        ({"nq": 10**9, "heads": 1024}, b"more than a card's grid of blocks takes"),
        ({"batch": 10**9}, b"more than a card's grid of blocks takes"),
        ({"features": 8192}, b"8192 features"),
    ],
)
def test_what_does_not_fit(emulator, changes, said):
    found = plan(emulator, **changes)
    assert not found.supported and said in found.text
