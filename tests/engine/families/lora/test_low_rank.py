"""Low-rank approximations: the best of their rank, and exact where the rank is high enough."""

import torch
from hypothesis import given
from hypothesis import strategies as st
from written_loras import added

from mezzotint.families.lora.factors import LoraFactors
from mezzotint.families.lora.low_rank import approximated, concatenated, share, truncated

SIDES = st.integers(1, 12)
WINDOWS = st.sampled_from([(), (1, 1), (3, 3)])


def factors(n, k, rank, window=(), alpha=1.5, seed=0):
    generator = torch.Generator().manual_seed(seed)
    down = torch.randn(rank, k, *window, generator=generator)
    up = torch.randn(n, rank, *(1 for _ in window), generator=generator)
    return LoraFactors(down=down, up=up, alpha=alpha)


def close(a, b):
    torch.testing.assert_close(a, b, rtol=1e-4, atol=1e-5)


@given(n=SIDES, k=SIDES, rank=st.integers(1, 16), window=WINDOWS, alpha=st.floats(-4, 4), seed=st.integers(0, 9))
def test_the_full_rank_is_exact(n, k, rank, window, alpha, seed):
    one = factors(n, k, rank, window, alpha, seed)
    found = truncated(one, rank=16)
    close(added(found.factors), added(one))
    assert found.factors.rank <= min(rank, n, one.down[0].numel()) and found.factors.scale == 1
    assert found.factors.down.shape[1:] == one.down.shape[1:] and found.factors.up.shape[2:] == one.up.shape[2:]
    assert abs(found.energy - float(added(one).square().sum())) <= 1e-6 * found.energy + 1e-12


@given(rank=st.integers(1, 5), seed=st.integers(0, 9))
def test_a_lower_rank_is_the_best_there_is(rank, seed):
    one = factors(9, 8, 6, seed=seed)
    found = truncated(one, rank=rank)
    u, values, v = torch.linalg.svd(added(one), full_matrices=False)
    close(added(found.factors), (u[:, :rank] * values[:rank]) @ v[:rank])
    assert abs(share(found.kept, found.energy) - float(values[:rank].square().sum() / values.square().sum())) < 1e-9


@given(keep=st.floats(0.01, 1), seed=st.integers(0, 9))
def test_the_lowest_rank_that_keeps_a_share(keep, seed):
    one = factors(9, 8, 6, seed=seed)
    found = truncated(one, keep=keep)
    assert share(found.kept, found.energy) >= keep - 1e-9
    if found.factors.rank > 1:
        lower = truncated(one, rank=found.factors.rank - 1)
        assert share(lower.kept, lower.energy) < keep


def test_nothing_stays_nothing():
    nothing = LoraFactors(down=torch.zeros(2, 3), up=torch.ones(4, 2), alpha=2.0)
    for found in (truncated(nothing, keep=0.9), truncated(nothing, rank=1), approximated(torch.zeros(4, 3), 1)):
        assert found.factors.rank == 1 and not added(found.factors).any()
        assert share(found.kept, found.energy) == 1


@given(n=SIDES, k=SIDES, window=WINDOWS, rank=st.integers(1, 12))
def test_a_difference_of_full_rank_is_returned(n, k, window, rank):
    update = added(factors(n, k, 12, window)).float()
    found = approximated(update, rank)
    if rank >= min(update.flatten(1).shape):
        close(added(found.factors).float(), update)
    assert found.factors.down.shape[1:] == update.shape[1:] and 0 <= found.kept <= found.energy


def test_a_large_difference_of_low_rank_is_returned():
    one = factors(400, 350, 5, alpha=5.0)
    update = added(one).float()
    found = approximated(update, 5)
    close(added(found.factors).float(), update)
    assert share(found.kept, found.energy) > 1 - 1e-6
    again = approximated(update, 5).factors
    assert torch.equal(again.up, found.factors.up) and torch.equal(again.down, found.factors.down)


def test_a_large_difference_is_approximated_almost_as_well_as_can_be():
    generator = torch.Generator().manual_seed(0)
    left = torch.linalg.qr(torch.randn(400, 300, generator=generator))[0]
    right = torch.linalg.qr(torch.randn(350, 300, generator=generator))[0]
    values = 1 / torch.arange(1, 301)
    update = (left * values) @ right.T
    found = approximated(update, 16)
    best = float(values[:16].square().sum() / values.square().sum())
    assert best - share(found.kept, found.energy) < 1e-6


@given(
    weights=st.lists(st.floats(-2, 2), min_size=1, max_size=3),
    alphas=st.lists(st.floats(0, 4), min_size=3, max_size=3),
    window=WINDOWS,
)
def test_ranks_stacked_add_what_all_add(weights, alphas, window):
    parts = [
        (factors(6, 5, rank, window, alphas[rank - 1], seed=rank), weight) for rank, weight in enumerate(weights, 1)
    ]
    wanted = sum(added(one) * weight for one, weight in parts)
    found = concatenated(parts)
    torch.testing.assert_close(added(found), wanted, rtol=1e-4, atol=1e-5)


def test_nothing_is_rounded_if_all_have_the_same_scale():
    one, two = factors(6, 5, 2, alpha=2 / 3), factors(6, 5, 3, alpha=1.0, seed=1)
    found = concatenated([(one, 0.7), (two, 0.7)])
    assert torch.equal(found.up, torch.cat([one.up, two.up], dim=1)) and found.rank == 5
    assert torch.equal(found.down, torch.cat([one.down, two.down])) and abs(found.scale - 0.7 / 3) < 1e-12
