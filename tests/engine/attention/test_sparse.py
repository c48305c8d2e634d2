"""Sparse attention over an image's tokens: what it sees, when it is dense, how far it is from dense attention."""

from itertools import pairwise

import pytest
import torch
from fake_kernels import FakeKernels

from mezzotint.attention import sparse
from mezzotint.attention.blocks import grids
from mezzotint.attention.blocks.tail import tail_reference
from mezzotint.attention.blocks.tiles import best_tiles, tile_table, tiles_of, window_tiles
from mezzotint.attention.compiled import CompiledAttention
from mezzotint.attention.masks import NO_MASKS, Masks
from mezzotint.attention.reduction import Grid
from mezzotint.attention.reference import attention_reference
from mezzotint.attention.session import AttentionSession
from mezzotint.attention.sparse import attend_sparsely

KINDS = ("pooled", "window", "topk")
GRID, TEXT = Grid(start=5, height=33, width=24), 11  # text before and after
TOKENS = GRID.stop + TEXT - GRID.start
TILES = tiles_of(grids.Grid(height=33, width=24, text_before=5, text_after=6), torch.device("cpu"))


@pytest.fixture
def session():
    return AttentionSession(asked="auto", chosen="sdpa", kernels=None, tell=lambda *_: None)


def tensors(dtype=torch.float32, heads=2, kv_heads=2, batch=2):
    """Smooth images, whose neighbouring tokens are alike."""
    generator = torch.Generator().manual_seed(1)
    made = []
    for each in (heads, kv_heads, kv_heads):
        coarse = torch.randn(batch * each, 16, 6, 5, generator=generator)
        image = torch.nn.functional.interpolate(coarse, (GRID.height, GRID.width), mode="bilinear")
        text = torch.randn(batch, each, TEXT, 16, generator=generator)
        image = image.flatten(2).mT.unflatten(0, (batch, each))
        made.append(torch.cat([text[:, :, :5], 2 * image, text[:, :, 5:]], 2).to(dtype))
    return made


def attended(session, kind, density, masks=NO_MASKS, dtype=torch.float32, **how):
    q, k, v = tensors(dtype, **how)
    return attend_sparsely(session._attend, q, k, v, masks, None, grid=GRID, how=(kind, density))


@pytest.mark.parametrize("kind", [*KINDS, "tiles"])
@pytest.mark.parametrize("density", [1.0, 0.999, None])
def test_a_density_of_1_and_too_few_tokens_are_dense_to_the_bit(session, kind, density):
    assert torch.equal(attended(session, kind, density), session.attend(*tensors()))


@pytest.mark.parametrize("kind", [*KINDS, "tiles"])
@pytest.mark.parametrize("masks", [Masks(causal=True), Masks(bias=torch.zeros(1, 1, 1, TOKENS))])
def test_what_a_table_cannot_hide_is_dense(session, kind, masks):
    assert torch.equal(attended(session, kind, 0.3, masks), session.attend(*tensors(), masks))


@pytest.mark.parametrize("hidden", [False, True])
def test_window_and_topk_are_dense_attention_with_a_bias(session, hidden):
    q, k, v = tensors()
    shown = torch.ones(2, TOKENS, dtype=torch.bool)
    shown[1, -3:] = not hidden
    masks = Masks(key_mask=shown) if hidden else NO_MASKS
    for kind, seen in (("window", window_tiles(TILES, 4)), ("topk", best_tiles(q, k, TILES, 4))):
        visible = tile_table(TILES, seen).seen() & shown[:, None, None]
        bias = torch.zeros(visible.shape).masked_fill(~visible, -torch.inf)
        expected = attention_reference(q, k, v, Masks(bias=bias))[0]
        torch.testing.assert_close(attended(session, kind, 4 / 15, masks), expected)


@pytest.mark.slow_after(1)
@pytest.mark.parametrize("hidden", [False, True])
def test_pooled_is_the_reference_with_means(session, hidden):
    q, k, v = tensors()
    shown = torch.ones(2, TOKENS, dtype=torch.bool)
    shown[1, -3:] = not hidden
    table = tile_table(TILES, best_tiles(q, k, TILES, 4), shown, pooled=True)
    found = attended(session, "pooled", 4 / 15, Masks(key_mask=shown) if hidden else NO_MASKS)
    torch.testing.assert_close(found, tail_reference(q, k, v, table).float())


def error(session, kind, density):
    return float((attended(session, kind, density) - session.attend(*tensors())).square().mean().sqrt())


def test_errors_fall_with_the_density_and_means_are_better_than_nothing(session):
    densities = (0.1, 0.3, 0.5, 0.7, 0.9)
    pooled, dropped = ([error(session, kind, each) for each in densities] for kind in ("pooled", "topk"))
    for errors in (pooled, dropped):
        assert all(more > less for more, less in pairwise(errors))
    assert all(one < other for one, other in zip(pooled, dropped, strict=True))


@pytest.mark.slow_after(1)
@pytest.mark.parametrize("chosen", ["flash", "int8"])
@pytest.mark.parametrize("kind", KINDS)
def test_the_kernels_run_it(kind, chosen, session):
    kernels, told = FakeKernels(), []
    ours = AttentionSession(asked="auto", chosen=chosen, kernels=CompiledAttention(kernels), tell=told.append)
    found = attended(ours, kind, 0.3, dtype=torch.bfloat16, kv_heads=1)
    assert len(kernels.launches) == (2 if kind == "pooled" else 1) and not told
    assert all(launch.table for launch in kernels.launches)
    expected = attended(session, kind, 0.3, dtype=torch.bfloat16, kv_heads=1)
    torch.testing.assert_close(found, expected, rtol=0.03, atol=0.03)


@pytest.mark.parametrize("kind", KINDS)
def test_the_reference_runs_it(kind, session):
    exact = AttentionSession(asked="reference", chosen="reference", kernels=None, tell=lambda *_: None)
    torch.testing.assert_close(attended(exact, kind, 0.3), attended(session, kind, 0.3))


def test_a_window_is_built_once_for_a_grid(session, monkeypatch):
    built = []
    monkeypatch.setattr(sparse, "window_tiles", lambda *args: (built.append(args), window_tiles(*args))[1])
    sparse._window.cache_clear()
    for _ in range(3):
        attended(session, "window", 0.4)
    assert len(built) == 1
