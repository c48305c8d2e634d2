"""Trained factors compute what the LoRA that is written from them computes."""

import pytest
import torch
from tiny_training import TinyTraining

from mezzotint.quantization.branched import set_branches
from mezzotint.quantization.linear import Branch
from mezzotint.training.factors import Factors, trainable_layers


@pytest.fixture(scope="module", params=["pixart", "sdxl"])
def tiny(request):
    return TinyTraining(request.getfixturevalue(f"tiny_{request.param}_folder"), images=2)


@pytest.fixture
def factors(tiny):
    made = Factors(tiny.network, trainable_layers(tiny.network), rank=4, alpha=2, seed=0)
    generator = torch.Generator().manual_seed(1)
    for name, parameter in made.named().items():
        if name.endswith(".up"):
            parameter.data = torch.randn(parameter.shape, generator=generator) * 0.1
    return made


def predicted(tiny):
    image = tiny.images[0]
    with torch.no_grad():
        return tiny.family.predict(tiny.model, image.latents[None], torch.tensor([500.0]), image.conditioning)


def test_attached_they_compute_as_the_lora_merged_into_the_weights(tiny, factors):
    plain = predicted(tiny)
    with factors.attached():
        attached = predicted(tiny)
    assert not torch.allclose(attached, plain, atol=1e-3)
    assert torch.equal(predicted(tiny), plain)  # detached again
    branches = {
        name: [Branch(down=each.down.detach(), up=each.up.detach(), scale=each.scale)]
        for name, each in factors.layers.items()
    }
    set_branches(tiny.network, branches)
    merged = predicted(tiny)
    set_branches(tiny.network, {})
    torch.testing.assert_close(attached, merged, rtol=1e-4, atol=1e-4)


def test_fresh_ones_change_nothing_and_are_the_same_for_a_seed(tiny):
    layers = trainable_layers(tiny.network)
    first, second, other = (Factors(tiny.network, layers, rank=4, alpha=4, seed=seed) for seed in (0, 0, 1))
    plain = predicted(tiny)
    with first.attached():
        assert torch.equal(predicted(tiny), plain)
    assert all(torch.equal(a, b) for a, b in zip(first.parameters(), second.parameters(), strict=True))
    assert not all(torch.equal(a, b) for a, b in zip(first.parameters(), other.parameters(), strict=True))


def test_attention_and_feed_forward_are_trained_and_modulation_is_not(tiny):
    layers = trainable_layers(tiny.network)
    assert any("attn1.to_q" in name for name in layers) and any(".ff.net.2" in name for name in layers)
    assert not any("norm" in name or "time_emb" in name or "adaln" in name for name in layers)
