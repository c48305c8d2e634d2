"""Footprints of single networks."""

from typing import Any

import diffusers
import pytest
import torch
from accelerate import init_empty_weights
from small_networks import small_networks

from mezzotint.memory.footprints.component import component_footprint, role_of
from mezzotint.memory.footprints.footprint_json import component_from_json, component_to_json
from mezzotint.memory.footprints.forward_calls import known_call
from mezzotint.memory.footprints.weight_bytes import weight_bytes


def footprint(class_name):
    with init_empty_weights(include_buffers=False):
        network = small_networks()[class_name]()
    if hasattr(network, "tie_weights"):
        network.tie_weights()
    return component_footprint(network, name="part", class_name=class_name, tokens=7)


@pytest.mark.slow
@pytest.mark.parametrize("class_name", list(small_networks()))
def test_of_a_network_without_weights(class_name):
    part = footprint(class_name)
    assert part.live.at(1024) > 0
    assert part.work.at(1024) > 0
    assert bool(part.blocks) == (part.role != "vae")
    if class_name != "Qwen2_5_VLForConditionalGeneration":  # of which the eyes are left out
        network = small_networks()[class_name]()
        assert part.bytes("none") == weight_bytes(network, class_name, ()).outside["none"]


def test_of_a_model_that_sees_the_language_alone_is_counted():
    part = footprint("Qwen2_5_VLForConditionalGeneration")
    assert [block.name for block in part.blocks] == [f"model.language_model.layers.{index}" for index in range(3)]
    assert part.outside["none"] < 2 * 2 * 100 * 64


def test_a_network_that_cannot_be_called_is_counted_and_not_traced():
    with init_empty_weights():
        network = small_networks()["FluxTransformer2DModel"]()
    part = component_footprint(network, name="part", class_name="FluxOfTomorrow", tokens=7)
    assert part.live.at(1024) == 0
    assert len(part.blocks) == 5
    assert part.role == role_of("FluxOfTomorrow") == "denoiser"


@pytest.mark.parametrize("class_name", ["ControlNetModel", "ControlNetUnionModel"])
def test_what_a_controlnet_gives_to_the_denoiser_is_counted(class_name):
    settings = {"block_out_channels": (32, 64, 64), "layers_per_block": 1, "attention_head_dim": 1}
    settings |= {"down_block_types": ("CrossAttnDownBlock2D", "DownBlock2D", "DownBlock2D"), "cross_attention_dim": 8}
    if class_name == "ControlNetUnionModel":
        settings |= {"num_trans_channel": 32, "num_proj_channel": 32, "addition_time_embed_dim": 8}
    network = getattr(diffusers, class_name)(**settings, conditioning_embedding_out_channels=(16, 32)).eval()
    with torch.no_grad():
        given: Any = known_call(class_name, network, 16, 1, 7)
    part = component_footprint(network, name="controlnet", class_name=class_name, tokens=7)
    assert part.role == "control"
    assert part.given == sum(tensor.numel() for tensor in (*given[0], given[1])) / 16**2
    assert component_from_json(component_to_json(part)).given == part.given
    assert part.live.at(256) > 2 * 256 * part.given
