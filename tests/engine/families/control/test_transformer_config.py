"""ControlNets of FLUX.1: the configurations of published ones, by the sizes of their tensors."""

from pathlib import Path
from typing import Any

import pytest
import torch
from diffusers import FluxControlNetModel

from mezzotint.errors import ModelRefused
from mezzotint.families.control.controlled_transformer import _spread
from mezzotint.families.control.shapes import NamedShapes
from mezzotint.families.control.transformer_config import flux_config, why_other_transformer
from mezzotint.memory.footprints.component import component_footprint
from mezzotint.memory.footprints.forward_calls import known_call

DEV = {"in_channels": 64, "attention_head_dim": 128, "num_attention_heads": 24, "joint_attention_dim": 4096}
DEV |= {"pooled_projection_dim": 768, "axes_dims_rope": [16, 56, 56]}
PUBLISHED = {  # config.json of their repositories on Hugging Face
    "Shakker-Labs/FLUX.1-dev-ControlNet-Union-Pro-2.0": {"num_layers": 6, "num_single_layers": 0, "num_mode": None},
    "InstantX/FLUX.1-dev-Controlnet-Union": {"num_layers": 5, "num_single_layers": 10, "num_mode": 10},
}
SMALL = {"in_channels": 64, "num_layers": 2, "num_single_layers": 1, "attention_head_dim": 16}
SMALL |= {"num_attention_heads": 2, "joint_attention_dim": 8, "pooled_projection_dim": 8, "axes_dims_rope": [4, 6, 6]}


@pytest.mark.parametrize("name", list(PUBLISHED))
def test_published_ones(name):
    settings = DEV | PUBLISHED[name] | {"guidance_embeds": True}
    with torch.device("meta"):
        tensors = FluxControlNetModel(**settings).state_dict()
    shapes = {name: tuple(one.shape) for name, one in tensors.items()}
    config = flux_config(NamedShapes(shapes, Path("net"), "a ControlNet of FLUX.1"), DEV)
    assert config == {**settings, "_class_name": "FluxControlNetModel"}
    assert why_other_transformer(config, DEV) is None
    assert why_other_transformer(config, DEV | {"in_channels": 384}) == "its in_channels is 64, the model's 384"
    del shapes["context_embedder.weight"]
    with pytest.raises(ModelRefused, match="not laid out as a ControlNet of FLUX.1 is: context_embedder.weight"):
        flux_config(NamedShapes(shapes, Path("net"), "a ControlNet of FLUX.1"), DEV)


def test_what_is_given_to_the_denoiser_is_counted():
    network = FluxControlNetModel(**SMALL, num_mode=3).eval()
    given: Any = known_call("FluxControlNetModel", network, 16, 1, 7)
    part = component_footprint(network, name="flux_controlnet", class_name="FluxControlNetModel", tokens=7)
    assert part.role == "control"
    assert part.given == sum(each.numel() for several in given for each in several) / 16**2
    assert len(part.blocks) == 3


def test_samples_are_spread_over_blocks_as_by_the_transformer():
    assert _spread(["a", "b"], 5) == ["a", "a", "a", "b", "b"]
    assert _spread(None, 5) is None
