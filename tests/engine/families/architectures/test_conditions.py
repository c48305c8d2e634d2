"""Networks with the latents of a smaller image as an input."""

import pytest
import torch
from tiny_variant import CONFIG, low_resolution, variant_inputs, variant_network

from mezzotint.errors import ModelRefused
from mezzotint.families.architectures.conditions import Inputs
from mezzotint.families.architectures.dense_weights import load_dense
from mezzotint.families.architectures.network import PixArtVariantTransformer2DModel


@pytest.mark.parametrize("kind", ["concat", "cross"])
@pytest.mark.parametrize("name", ["low_resolution", "low_resolution_noise"])
def test_each_input_matters_and_is_asked_for(kind, name):
    network, given = variant_network(condition=kind), low_resolution()
    before = network(**variant_inputs(**given)).sample
    assert not torch.equal(network(**variant_inputs(**given | {name: given[name] + 100})).sample, before)
    del given[name]
    with pytest.raises(ModelRefused, match=f"of which {name} is not given: use it as a refiner"):
        network(**variant_inputs(**given))


def test_without_any_both_are_asked_for():
    inputs = variant_inputs() | {"added_cond_kwargs": None}
    with pytest.raises(ModelRefused, match="of which low_resolution and low_resolution_noise is not given"):
        variant_network(condition="cross")(**inputs)


def test_concatenated_latents_begin_without_effect():
    dense = variant_network()
    network = PixArtVariantTransformer2DModel.from_config(CONFIG | {"architecture": {"condition": "concat"}})
    load_dense(network, dense.state_dict())
    torch.testing.assert_close(
        network(**variant_inputs(**low_resolution())).sample, dense(**variant_inputs()).sample, rtol=1e-5, atol=1e-6
    )


def test_a_new_network_ignores_concatenated_latents():
    network = PixArtVariantTransformer2DModel.from_config(CONFIG | {"architecture": {"condition": "concat"}})
    assert not network.pos_embed.proj.weight[:, 4:].any()
    assert network.pos_embed.proj.weight[:, :4].any()


def test_patches_of_the_smaller_image_come_before_the_text_and_are_never_hidden():
    network = variant_network(condition="cross")
    inputs = Inputs(
        latents=torch.zeros(2, 4, 8, 12),
        text=torch.ones(2, 5, 16),
        bias=torch.full((2, 1, 5), -10000.0),
        options={"key_lengths": torch.tensor([5, 3])},
    )
    joined = network.condition.joined(inputs, low_resolution())
    assert joined.text.shape == (2, 6 + 5, 16)
    assert torch.equal(joined.text[:, 6:], inputs.text)
    assert joined.bias.tolist() == [[[0.0] * 6 + [-10000.0] * 5]] * 2
    assert joined.options["key_lengths"].tolist() == [11, 9]
    plain = network.condition.joined(
        Inputs(latents=inputs.latents, text=inputs.text, bias=None, options=None), low_resolution()
    )
    assert (plain.bias, plain.options) == (None, {})
