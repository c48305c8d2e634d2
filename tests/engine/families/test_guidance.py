"""Classifier-free guidance, against its definition and its peer."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from mezzotint.families.family import Conditioning
from mezzotint.families.guidance import guidance_embedding, guide, guided_output
from mezzotint.families.text.conditionings import half_of, joined
from mezzotint.protocol import Sampling


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


def network(rows, said):
    """Something of every row's own."""
    return rows * said.tensors["text"].mean(dim=(1, 2))[:, None, None, None] + rows.flip(-1)


def conditioning(*, guided, rescale=0.0, seed=1):
    text = torch.randn(2 if guided else 1, 5, 3, generator=torch.Generator().manual_seed(seed))
    return Conditioning(
        guided=guided, sampling=Sampling(guidance_scale=4.0, guidance_rescale=rescale), tensors={"text": text}
    )


@pytest.mark.parametrize("rescale", [0.0, 0.7])
def test_one_half_after_the_other_is_the_same(rescale):
    sample, said = halves()[:1], conditioning(guided=True, rescale=rescale)
    both = guided_output(network, sample, said, "batched")
    torch.testing.assert_close(guided_output(network, sample, said, "sequential"), both)
    assert both.shape == sample.shape and not torch.equal(both, network(sample, half_of(said, 1)))


def test_rows_of_each_pass():
    seen = {"batched": [], "sequential": []}
    for passes, rows in seen.items():

        def noted(x, t, rows=rows):
            rows.append((len(x), len(t.tensors["text"])))
            return x

        guided_output(
            noted,
            halves()[:1],
            conditioning(guided=True),
            passes,
        )
    assert seen == {"batched": [(2, 2)], "sequential": [(1, 1), (1, 1)]}


@pytest.mark.parametrize("passes", ["batched", "sequential"])
def test_unguided_samples_are_asked_once(passes):
    sample, said = halves()[:1], conditioning(guided=False)
    torch.testing.assert_close(guided_output(network, sample, said, passes), network(sample, said))


@given(
    images=st.integers(1, 5),
    at_once=st.integers(0, 6),
    passes=st.sampled_from(["batched", "sequential"]),
    guided=st.booleans(),
)
def test_images_together_are_guided_as_each_is_alone(images, at_once, passes, guided):
    sample = torch.randn(images, 4, 8, 8, generator=torch.Generator().manual_seed(2))
    said = [conditioning(guided=guided, rescale=0.5, seed=seed) for seed in range(images)]
    rows = []

    def ask(x, asked):
        rows.append(len(x))
        assert len(asked.tensors["text"]) == len(x)
        return network(x, asked)

    together = guided_output(ask, sample, joined(said), passes, at_once)
    most = (at_once or images) * (2 if guided and passes == "batched" else 1)
    assert max(rows) <= most
    alone = [guided_output(network, sample[i : i + 1], said[i], passes) for i in range(images)]
    torch.testing.assert_close(together, torch.cat(alone))
