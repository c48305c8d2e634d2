"""Classifier-free guidance, against its definition and its peer."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from mezzotint.families.guidance import guidance_embedding, guide, twice


def halves(seed: int = 0) -> torch.Tensor:
    return torch.randn(2, 4, 8, 8, generator=torch.Generator().manual_seed(seed))


def test_scale_one_is_the_conditional_half():
    output = halves()
    torch.testing.assert_close(guide(output, 1.0, 0.0), output[1:])


@given(st.floats(1, 20), st.floats(0.01, 1))
def test_rescale_moves_the_spread_towards_the_conditional(scale, rescale):
    """Formula 15 and 16 of arXiv 2305.08891."""
    output = halves()
    plain, rescaled = guide(output, scale, 0.0), guide(output, scale, rescale)
    expected = rescale * output[1:].std() + (1 - rescale) * plain.std()
    assert float(rescaled.std()) == pytest.approx(float(expected), rel=1e-3)


def test_the_same_rescale_as_diffusers():
    from diffusers.pipelines.stable_diffusion_xl.pipeline_stable_diffusion_xl import rescale_noise_cfg

    output = halves()
    theirs = rescale_noise_cfg(guide(output, 7.5, 0.0), output[1:], guidance_rescale=0.7)
    torch.testing.assert_close(guide(output, 7.5, 0.7), theirs)


@pytest.mark.parametrize("dim", [256, 31])
def test_the_same_embedding_as_diffusers(dim):
    from diffusers import StableDiffusionXLPipeline

    theirs = StableDiffusionXLPipeline.get_guidance_scale_embedding(None, torch.tensor([7.5 - 1]), dim)
    torch.testing.assert_close(guidance_embedding(7.5, dim, torch.float32), theirs)


def test_unguided_samples_are_not_doubled():
    sample = halves()[:1]
    assert twice(sample, guided=False) is sample
    assert twice(sample, guided=True).shape == (2, 4, 8, 8)
