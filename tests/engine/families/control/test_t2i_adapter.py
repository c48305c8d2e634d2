"""T2I-Adapters: the configurations of published ones, by the sizes of their tensors, and which U-Nets they fit."""

from pathlib import Path
from typing import Any

import pytest
import torch
from diffusers import T2IAdapter

from mezzotint.families.control.shapes import NamedShapes
from mezzotint.families.control.t2i_adapter import t2i_adapter_config, why_other_features
from mezzotint.memory.footprints.component import component_footprint
from mezzotint.memory.footprints.forward_calls import known_call

ATTENDING = "CrossAttnDownBlock2D"
SD15 = {"block_out_channels": [320, 640, 1280, 1280], "down_block_types": [*[ATTENDING] * 3, "DownBlock2D"]}
SDXL = {"block_out_channels": [320, 640, 1280], "down_block_types": ["DownBlock2D", ATTENDING, ATTENDING]}
PUBLISHED = {  # of TencentARC's repositories on Hugging Face
    "full_adapter": ({"channels": [320, 640, 1280, 1280], "num_res_blocks": 2, "downscale_factor": 8}, SD15),
    "light_adapter": ({"channels": [320, 640, 1280], "num_res_blocks": 4, "downscale_factor": 8}, SD15),
    "full_adapter_xl": ({"channels": [320, 640, 1280, 1280], "num_res_blocks": 2, "downscale_factor": 16}, SDXL),
}


def network(kind, colours):
    with torch.device("meta"):
        return T2IAdapter(in_channels=colours, adapter_type=kind, **PUBLISHED[kind][0])


@pytest.mark.parametrize("colours", [1, 3])
@pytest.mark.parametrize("kind", list(PUBLISHED))
def test_published_ones(kind, colours):
    tensors = network(kind, colours).state_dict()
    shapes = NamedShapes({name: tuple(one.shape) for name, one in tensors.items()}, Path("adapter"), "a T2I-Adapter")
    config = t2i_adapter_config(shapes, 8)
    settings, unet = PUBLISHED[kind]
    expected = {"_class_name": "T2IAdapter", "in_channels": colours, "adapter_type": kind, **settings}
    assert config == expected
    assert why_other_features(config, unet) is None
    other = SDXL if unet is SD15 else SD15
    assert why_other_features(config, other).startswith("its features are (channels, halvings) [(320, ")
    assert "takes 5 numbers per pixel" in why_other_features({**config, "in_channels": 5}, unet)


@pytest.mark.parametrize("kind", ["full_adapter", "full_adapter_xl"])
def test_what_is_given_to_the_denoiser_is_counted(kind):
    made = T2IAdapter(channels=[32, 64], num_res_blocks=1, downscale_factor=4, adapter_type=kind).eval()
    given: Any = known_call("T2IAdapter", made, 16, 1, 7)
    part = component_footprint(made, name="t2i_adapter", class_name="T2IAdapter", tokens=7)
    assert part.role == "control"
    assert part.given >= sum(each.numel() for each in given) / 16**2
    assert part.live.at(256) > 0
