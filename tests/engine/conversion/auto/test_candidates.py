"""The formats that a layer can have: those of every scheme, without what the policy keeps."""

import pytest

from mezzotint.conversion.auto.candidates import candidates_of
from mezzotint.errors import ModelRefused
from mezzotint.protocol import SCHEMES
from mezzotint.quantization.policy import Choice, LayerShape, formats_for

CLASS = "PixArtTransformer2DModel"
LAYERS = (
    LayerShape(name="proj_out", shape=(64, 256)),
    LayerShape(name="transformer_blocks.0.attn1.to_q", shape=(256, 256)),
    LayerShape(name="transformer_blocks.0.attn2.to_k", shape=(256, 256)),
    LayerShape(name="transformer_blocks.0.conv", shape=(32, 32, 3, 3)),
)
CHOICE = Choice(scheme="int8")


def test_each_scheme_contributes_what_its_policy_says():
    found = candidates_of(CLASS, LAYERS, CHOICE)
    assert "proj_out" not in found
    for scheme in SCHEMES:
        for name, chosen in formats_for(CLASS, LAYERS, Choice(scheme=scheme)).items():
            assert chosen in found[name]
    assert {each.scheme for each in found["transformer_blocks.0.attn1.to_q"]} == set(SCHEMES)


def test_no_format_comes_twice():
    found = candidates_of(CLASS, LAYERS, CHOICE)
    assert all(len(set(formats)) == len(formats) for formats in found.values())
    assert len(found["transformer_blocks.0.conv"]) == 1


def test_inputs_that_are_not_to_be_rounded_are_rounded_by_no_candidate():
    found = candidates_of(CLASS, LAYERS, CHOICE)
    assert not any(getattr(each, "dynamic", False) for each in found["transformer_blocks.0.attn2.to_k"])


def test_only_the_schemes_that_may_be_used():
    found = candidates_of(CLASS, LAYERS, CHOICE, ("int4",))
    assert {each.scheme for each in found["transformer_blocks.0.attn1.to_q"]} == {"int4"}


def test_a_network_that_no_scheme_fits():
    with pytest.raises(ModelRefused, match="no layer"):
        candidates_of(CLASS, LAYERS[:1], CHOICE)
    with pytest.raises(ModelRefused, match="cannot be quantized"):
        candidates_of("AutoencoderKL", LAYERS, CHOICE)
