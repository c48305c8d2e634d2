"""Random features estimate the kernels that they stand for."""

from itertools import pairwise

import torch
from torch.nn.functional import normalize

from mezzotint.attention.linear.features import PositiveRandom, RandomFourier
from mezzotint.attention.linear.operation import linear_attention
from mezzotint.attention.linear.projections import orthogonal_projections
from mezzotint.attention.reference import attention_reference

DRAWS, HEAD_DIM, TOKENS = 200, 8, 24


def random(*shape):
    return torch.randn(shape, generator=torch.Generator().manual_seed(5), dtype=torch.float64)


def test_errors_of_favor_fall_like_the_root_of_the_features():
    """Each head is another draw."""
    q, k, v = (each.expand(1, DRAWS, -1, -1) for each in 0.4 * random(3, TOKENS, HEAD_DIM))
    exact = attention_reference(q, k, v)[0]
    errors = []
    for features in (16, 64, 256):
        drawn = PositiveRandom(orthogonal_projections(DRAWS, features, HEAD_DIM, seed=features), HEAD_DIM**-0.5)
        errors.append((linear_attention(q, k, v, drawn) - exact).square().mean().sqrt())
    for more, fewer in pairwise(errors):
        assert 1.7 < more / fewer < 2.3  # four times the features, half the error


def test_favor_is_exact_for_large_numbers():
    """Without the maxima, exponents would overflow."""
    q, k, v = 40 * random(3, 1, 1, TOKENS, HEAD_DIM).float()
    drawn = PositiveRandom(orthogonal_projections(1, 64, HEAD_DIM, seed=0), HEAD_DIM**-0.5)
    assert linear_attention(q, k, v, drawn).isfinite().all()


def test_fourier_features_estimate_the_gaussian_kernel():
    x, sigma = random(1, 1, TOKENS, HEAD_DIM), torch.linspace(0.5, 1.5, HEAD_DIM).double()
    features = RandomFourier(orthogonal_projections(1, 40_000, HEAD_DIM, seed=0), sigma[None, None])
    mapped = features.queries(x)
    unit = normalize(x, dim=-1) * sigma
    kernel = torch.exp(-(unit[..., :, None, :] - unit[..., None, :, :]).square().sum(-1) / 2)
    torch.testing.assert_close(mapped @ mapped.mT, kernel, atol=0.02, rtol=0)
    torch.testing.assert_close(features.queries(7 * x), mapped)  # their length does not count
