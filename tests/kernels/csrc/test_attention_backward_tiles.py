"""The backward pass in tiles (tests/plugins/backward_tiles.py) against autograd of the formula, in float64."""

import math

import numpy as np
import pytest
import torch
from backward_tiles import Dropout, Tiles, gradients_by_tiles, philox

# batch, heads, kv_heads, nq, nk, head_dim
SHAPES = ((1, 1, 1, 5, 7, 8), (2, 4, 2, 37, 50, 8), (1, 3, 1, 64, 20, 16), (1, 2, 2, 20, 64, 8))
MASKS = ("none", "causal", "lengths", "mask", "causal and lengths")


def problem(shape, masks):
    batch, heads, kv_heads, nq, nk, head_dim = shape
    generator = torch.Generator().manual_seed(3)
    sizes = ((heads, nq), (kv_heads, nk), (kv_heads, nk))
    tensors = [torch.randn(batch, *size, head_dim, dtype=torch.float64, generator=generator) for size in sizes]
    hidden = torch.zeros(batch, heads, nq, nk, dtype=torch.bool)
    if "causal" in masks:
        hidden |= torch.arange(nk) > torch.arange(nq)[:, None] + nk - nq
    if "lengths" in masks:
        lengths = torch.tensor([0, nk // 2][-batch:])
        hidden |= torch.arange(nk) >= lengths[:, None, None, None]
    if masks == "mask":
        hidden |= torch.rand(batch, 1, 1, nk, generator=generator) < 0.4
    return [each.requires_grad_() for each in tensors], hidden, generator


def plain(q, k, v, hidden, scale, dropout=None):
    k, v = (each.repeat_interleave(q.shape[1] // k.shape[1], dim=1) for each in (k, v))
    scores = (q @ k.mT * scale).masked_fill(hidden, -math.inf)
    nothing = hidden.all(dim=-1, keepdim=True)
    weights = torch.softmax(scores.masked_fill(nothing, 0.0), dim=-1) * ~nothing
    lse = torch.logsumexp(scores.masked_fill(nothing, 0.0), dim=-1).masked_fill(nothing[..., 0], -math.inf)
    return (weights if dropout is None else weights * dropout) @ v, lse


@pytest.mark.parametrize("dropped", [False, True], ids=["whole", "dropout"])
@pytest.mark.parametrize("masks", MASKS)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_tiles_give_what_autograd_gives(shape, masks, dropped):
    tensors, hidden, generator = problem(shape, masks)
    dropout = Dropout(kept=200, seed=5, offset=11).weights(*hidden.shape) if dropped else None
    scale = shape[-1] ** -0.5
    q, k, v = tensors
    out, lse = plain(q, k, v, hidden, scale, dropout)
    gradient, of_lse = (torch.randn(each.shape, dtype=torch.float64, generator=generator) for each in (out, lse))
    seen = lse > -math.inf
    exact = torch.autograd.grad((out * gradient).sum() + (lse * of_lse)[seen].sum(), tensors)
    for tiles in (Tiles(), Tiles(queries=16, keys=16, splits=2), Tiles(queries=16, keys=32, splits=3)):
        found = gradients_by_tiles(
            gradient,
            q.detach(),
            k.detach(),
            v.detach(),
            out.detach(),
            lse.detach(),
            hidden=hidden,
            scale=scale,
            lse_gradient=of_lse * seen,
            dropout=dropout,
            tiles=tiles,
        )
        for ours, right in zip(found, exact, strict=True):
            assert (ours - right).abs().max() <= 1e-14 * max(1.0, float(right.abs().max()))


def test_random_words_are_philox():
    """Known answers of Philox4x32-7 (Random123, kat_vectors)."""
    ones = 0xFFFFFFFF
    answers = {
        ((0, 0, 0, 0), 0): (0x5F6FB709, 0x0D893F64, 0x4F121F81, 0x4F730A48),
        ((ones, ones, ones, ones), 2**64 - 1): (0x5207DDC2, 0x45165E59, 0x4D8EE751, 0x8C52F662),
    }
    for (counter, key), wanted in answers.items():
        assert tuple(int(word) for word in philox(tuple(map(np.uint64, counter)), key)) == wanted


def test_as_many_weights_are_kept_as_asked_and_others_with_another_seed():
    first, second = (Dropout(kept=192, seed=seed).weights(2, 2, 100, 100) for seed in (1, 2))
    assert abs(float((first > 0).double().mean()) - 0.75) < 0.01
    assert abs(float((first == second).double().mean()) - (0.75**2 + 0.25**2)) < 0.02
    assert not torch.equal(first[0, 0], first[0, 1])
    assert not torch.equal(first[0, 0], first[1, 0])
    assert not torch.equal(first[..., :16, :32], first[..., 16:32, :32])
