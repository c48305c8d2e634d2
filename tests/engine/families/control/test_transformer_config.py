"""ControlNets of transformers: the configurations of published ones, by the sizes of their tensors."""

from pathlib import Path
from typing import Any

import pytest
import torch
from diffusers import FluxControlNetModel, QwenImageControlNetModel

from mezzotint.errors import ModelRefused
from mezzotint.families.control.controlled_transformer import _spread
from mezzotint.families.control.shapes import NamedShapes
from mezzotint.families.control.transformer_config import flux_config, qwen_config, why_other_transformer
from mezzotint.memory.footprints.component import component_footprint
from mezzotint.memory.footprints.forward_calls import known_call

DEV = {"in_channels": 64, "attention_head_dim": 128, "num_attention_heads": 24, "joint_attention_dim": 4096}
DEV |= {"pooled_projection_dim": 768, "axes_dims_rope": [16, 56, 56]}
PUBLISHED = {  # config.json of their repositories on Hugging Face
    "Shakker-Labs/FLUX.1-dev-ControlNet-Union-Pro-2.0": {"num_layers": 6, "num_single_layers": 0, "num_mode": None},
    "InstantX/FLUX.1-dev-Controlnet-Union": {"num_layers": 5, "num_single_layers": 10, "num_mode": 10},
}
SMALL: dict[str, Any] = {"in_channels": 64, "num_layers": 2, "attention_head_dim": 16, "num_attention_heads": 2}
SMALL |= {"joint_attention_dim": 8, "axes_dims_rope": [4, 6, 6]}


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


def test_one_of_qwen_image():
    settings = {"in_channels": 64, "out_channels": 16, "num_layers": 5, "attention_head_dim": 128}
    settings |= {"num_attention_heads": 24, "joint_attention_dim": 3584, "axes_dims_rope": [16, 56, 56]}
    with torch.device("meta"):
        tensors = QwenImageControlNetModel(**settings, extra_condition_channels=4).state_dict()
    shapes = NamedShapes({name: tuple(one.shape) for name, one in tensors.items()}, Path("net"), "a ControlNet")
    config = qwen_config(shapes, {"axes_dims_rope": [16, 56, 56]})
    assert config == {**settings, "_class_name": "QwenImageControlNetModel", "extra_condition_channels": 4}
    assert "it takes 4 more channels than an image has" in why_other_transformer(config, settings)
    assert why_other_transformer(config | {"extra_condition_channels": 0}, settings) is None


@pytest.mark.parametrize("kind", [FluxControlNetModel, QwenImageControlNetModel])
def test_what_is_given_to_the_denoiser_is_counted(kind):
    special = {"pooled_projection_dim": 8, "num_single_layers": 1, "num_mode": 3} if kind is FluxControlNetModel else {}
    network, name = kind(**SMALL, **special).eval(), kind.__name__
    given: Any = known_call(name, network, 16, 1, 7)
    part = component_footprint(network, name="control", class_name=name, tokens=7)
    samples = [each for several in given for each in several] if special else given
    assert part.role == "control"
    assert part.given == sum(each.numel() for each in samples) / 16**2
    assert len(part.blocks) == (3 if special else 2)


def test_samples_are_spread_over_blocks_as_by_the_transformer():
    assert _spread(["a", "b"], 5) == ["a", "a", "a", "b", "b"]
    assert _spread(None, 5) is None
