"""ControlNets of published sizes, without weights: the same network is built from their tensors' names and shapes."""

from functools import partial
from pathlib import Path

import diffusers
import pytest
from accelerate import init_empty_weights
from tiny_control import original_name

from mezzotint.families.control.checkpoint import ControlCheckpoint
from mezzotint.families.control.config import control_config
from mezzotint.families.control.names import original_place

SD15 = {
    "block_out_channels": (320, 640, 1280, 1280),
    "down_block_types": (*("CrossAttnDownBlock2D",) * 3, "DownBlock2D"),
    "attention_head_dim": 8,
    "cross_attention_dim": 768,
}
SDXL = {
    "block_out_channels": (320, 640, 1280),
    "down_block_types": ("DownBlock2D", *("CrossAttnDownBlock2D",) * 2),
    "attention_head_dim": (5, 10, 20),
    "cross_attention_dim": 2048,
    "use_linear_projection": True,
    "transformer_layers_per_block": (1, 2, 10),
    "addition_embed_type": "text_time",
    "addition_time_embed_dim": 256,
    "projection_class_embeddings_input_dim": 2816,
}
SMALL = SDXL | {"down_block_types": ("DownBlock2D",) * 3, "mid_block_type": "UNetMidBlock2D"}
MIDDLE = SDXL | {"transformer_layers_per_block": 1}
PROMAX = SDXL | {"num_control_type": 8, "conditioning_embedding_out_channels": (16, 32, 96, 256)}


def shapes_of(kind, settings):
    with init_empty_weights():
        network = getattr(diffusers, kind)(**settings)
    return {name: tuple(tensor.shape) for name, tensor in network.state_dict().items()}


@pytest.mark.parametrize(
    ("kind", "settings", "unet"),
    [
        ("ControlNetModel", SD15, SD15),
        ("ControlNetModel", SDXL, SDXL),
        ("ControlNetModel", SMALL, SDXL),
        ("ControlNetModel", MIDDLE, SDXL),
        ("ControlNetUnionModel", PROMAX, SDXL),
    ],
)
def test_the_same_network_is_built(kind, settings, unet):
    shapes = shapes_of(kind, settings)
    found = ControlCheckpoint(path=Path("net"), files=(), shapes=shapes, original=None, config={}, bytes=0)
    config = control_config(found, unet)
    assert config["_class_name"] == kind
    plain = {name: value for name, value in config.items() if not name.startswith("_")}
    assert shapes_of(kind, plain) == shapes


def test_original_names_of_stable_diffusion_15_all_have_a_place():
    names = list(shapes_of("ControlNetModel", SD15))
    originals = [original_name(name, layers=2, convolutions=8) for name in names]
    place = partial(original_place, tuple(originals))
    assert [place(name) for name in originals] == [((name, "whole"),) for name in names]
    assert "input_hint_block.14.weight" in originals
    assert "zero_convs.11.0.weight" in originals
