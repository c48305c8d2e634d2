"""A variant begins with the dense network's weights."""

import pytest
import torch
from tiny_variant import CONFIG, variant_inputs, variant_network

from mezzotint.families.architectures.dense_weights import load_dense
from mezzotint.families.architectures.network import PixArtVariantTransformer2DModel


def began(**architecture):
    """A dense network, a variant with its weights, and the names of the variant's new weights."""
    dense = variant_network()
    network = PixArtVariantTransformer2DModel.from_config(CONFIG | {"architecture": architecture})
    return dense, network, load_dense(network, dense.state_dict())


@pytest.mark.parametrize(
    ("architecture", "new"),
    [
        ({}, set()),
        ({"trunk": "reversible"}, set()),
        ({"norm": "rms"}, set()),
        ({"modulation": "zero"}, set()),
        ({"tokens": "pooled"}, set()),
        ({"depth": "shared"}, set()),
        ({"tokens": "selected"}, {"detour"}),
        ({"pyramid": "merge"}, {"detour"}),
        ({"skips": "long"}, {"skips"}),
        ({"feed_forward": "spatial"}, {"transformer_blocks"}),
        ({"condition": "cross"}, {"adaln_single", "condition"}),
    ],
)
def test_what_exists_is_loaded_and_the_rest_is_told(architecture, new):
    dense, network, names = began(**architecture)
    assert {name.partition(".")[0] for name in names} == new
    expected, found = dense.state_dict(), network.state_dict()
    if "depth" not in architecture:
        assert all(torch.equal(found[name], expected[name]) for name in found if name in expected)


def test_new_weights_of_a_feed_forward_are_only_its_own():
    names = began(feed_forward="mbconv")[2]
    assert names
    assert all(name.split(".")[2] == "ff" for name in names)


def test_each_modulation_of_its_own_begins_as_the_shared_one():
    dense, network, _ = began(modulation="zero", depth="unique")
    torch.testing.assert_close(network(**variant_inputs()).sample, dense(**variant_inputs()).sample)


def test_shared_weights_begin_as_one_of_their_blocks():
    dense, network, _ = began(depth="looped", modulation="zero")
    for block, source in zip(network.transformer_blocks, (0, 2, 5), strict=True):
        expected = dense.transformer_blocks[source]
        assert torch.equal(block.attn1.to_q.weight, expected.attn1.to_q.weight)
        bias = dense.adaln_single.linear.bias + expected.scale_shift_table.flatten()
        assert torch.equal(block.modulation.bias, bias)


def test_weights_of_another_shape_are_new():
    dense, network, _ = began()
    weights = dense.state_dict() | {"proj_out.bias": torch.zeros(3)}
    assert load_dense(network, weights) == ("proj_out.bias",)
