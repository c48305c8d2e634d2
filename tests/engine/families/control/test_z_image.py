"""ControlNets of Z-Image: the configurations of published ones, and what they are refused for."""

from pathlib import Path
from typing import Any

import pytest
import torch
from diffusers import ZImageControlNetModel

from mezzotint.families.control.shapes import NamedShapes
from mezzotint.families.control.z_image import REFINED_BY, why_other_z_image, z_image_config
from mezzotint.memory.footprints.component import component_footprint
from mezzotint.memory.footprints.forward_calls import known_call

TRANSFORMER = {"n_layers": 30, "n_refiner_layers": 2, "dim": 3840, "n_heads": 30, "norm_eps": 1e-5}
PUBLISHED: Any = {  # config.json of hlky's conversions on Hugging Face; the last has three blocks
    "1.0": ([0, 5, 10, 15, 20, 25], 16, None),
    "2.0": ([*range(0, 30, 2)], 33, "control_layers"),
    "2.1": ([*range(0, 30, 2)], 33, "control_noise_refiner"),
    "2.1 lite": ([0, 10, 20], 33, "control_noise_refiner"),
}


@pytest.mark.parametrize("version", list(PUBLISHED))
def test_published_ones(version):
    places, channels, refined = PUBLISHED[version]
    settings = {"control_layers_places": places, "control_refiner_layers_places": [0, 1], "control_in_dim": channels}
    settings |= {REFINED_BY: refined, "dim": 3840, "n_refiner_layers": 2, "n_heads": 30, "n_kv_heads": 30}
    with torch.device("meta"):
        tensors = ZImageControlNetModel(**settings).state_dict()
    shapes = NamedShapes({name: tuple(one.shape) for name, one in tensors.items()}, Path("net"), "a ControlNet")
    config = z_image_config(shapes, {REFINED_BY: refined}, TRANSFORMER)
    assert config == {**settings, "_class_name": "ZImageControlNetModel", "norm_eps": 1e-5, "qk_norm": True}
    assert why_other_z_image(config, TRANSFORMER) is None
    assert why_other_z_image(config, TRANSFORMER | {"dim": 2304}) == "its dim is 3840, the model's 2304"
    places = {"control_layers_places": [0, 31]}
    assert why_other_z_image(config | places, TRANSFORMER) == "it adds to the layers [0, 31], the model has 30"


def test_what_is_given_to_the_denoiser_is_counted():
    settings = {"control_layers_places": [0, 2], "control_refiner_layers_places": [0], "control_in_dim": 33}
    network = ZImageControlNetModel(**settings, add_control_noise_refiner="control_layers", dim=48, n_heads=3).eval()
    given: Any = known_call("ZImageControlNetModel", network, 16, 1, 32)
    part = component_footprint(network, name="control", class_name="ZImageControlNetModel", tokens=32)
    assert (part.role, len(part.blocks)) == ("control", 2)
    image = 16 * 16 // 4  # its tokens; those of the text are few
    assert part.given == sum(each[:, :image].numel() for each in given.values()) / 16**2
