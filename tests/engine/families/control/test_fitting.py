"""Which ControlNets fit which models, and the configurations made for them."""

from dataclasses import replace

import pytest
from diffusers import ControlNetModel, ControlNetUnionModel
from tiny_control import weights_of, write_tiny_control
from tiny_sd15 import write_tiny_sd15

from mezzotint.checkpoints.opening import open_checkpoint
from mezzotint.errors import ModelRefused
from mezzotint.families.control.checkpoint import open_control
from mezzotint.families.control.config import control_config
from mezzotint.families.control.fitting import is_control, why_not, with_control
from mezzotint.families.detection import detect
from mezzotint.families.model_sources import sources_of


def sources(folder):
    checkpoint = open_checkpoint(folder)
    return sources_of(checkpoint, detect(checkpoint))


@pytest.fixture(scope="module")
def sd15(tmp_path_factory):
    return write_tiny_sd15(tmp_path_factory.mktemp("model") / "model")


@pytest.mark.parametrize("union", [0, 6])
def test_the_configuration_of_a_file_is_that_of_its_folder(tiny_sdxl_folder, tmp_path, union):
    net = write_tiny_control(tmp_path / "net", tiny_sdxl_folder, union=union)
    unet = sources(tiny_sdxl_folder).components["unet"].config
    kind = ControlNetUnionModel if union else ControlNetModel
    stated = kind.load_config(net)
    for path in (net, weights_of(net)):
        made = kind.from_config(control_config(open_control(path), unet)).config
        different = {key for key, value in stated.items() if made.get(key) != value and not key.startswith("_")}
        assert different <= {"only_cross_attention", "upcast_attention", "num_attention_heads"}, different


def test_components_are_numbered_and_shared_by_file(tiny_sdxl_folder, tmp_path):
    first, second = (
        open_control(write_tiny_control(tmp_path / str(seed), tiny_sdxl_folder, seed=seed)) for seed in (1, 2)
    )
    found, one = with_control(sources(tiny_sdxl_folder), first)
    found, two = with_control(found, second)
    again, same = with_control(found, first)
    assert (one, two, same) == ("controlnet", "controlnet_2", "controlnet")
    assert again is found
    assert [name for name in found.components if is_control(name)] == [one, two]
    assert found.components[two].files == second.files


def test_what_fits_another_model_only(tiny_sdxl_folder, tiny_pixart_folder, sd15, tmp_path):
    of_sd15 = open_control(write_tiny_control(tmp_path / "sd15", sd15))
    assert why_not(of_sd15, sources(sd15), "tiny") is None
    assert why_not(of_sd15, sources(tiny_sdxl_folder), "xl") == "it takes text of width 32, but xl gives 96"
    assert why_not(of_sd15, sources(tiny_pixart_folder), "dit").startswith("dit is of the family pixart, and it is for")


@pytest.mark.parametrize(
    ("width", "why"),
    [
        (768, "it was made for Stable Diffusion 1.5, but m is SDXL"),
        (1024, "Stable Diffusion 2"),
        (5, "text of width 5"),
    ],
)
def test_published_widths_are_named(tiny_sdxl_folder, tmp_path, width, why):
    net = open_control(write_tiny_control(tmp_path / "net", tiny_sdxl_folder))
    shapes = {
        name: (shape[0], width) if name.endswith("attn2.to_k.weight") else shape for name, shape in net.shapes.items()
    }
    assert why in why_not(replace(net, shapes=shapes), sources(tiny_sdxl_folder), "m")


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ({"layers_per_block": 2}, "its layers_per_block is 2, the model's 1"),
        ({"in_channels": 9}, "it takes latents of 9 channels, the model has 4"),
        ({"conditioning_embedding_out_channels": (16, 32, 32)}, "it has 4 pixels per latent, the model 2"),
        ({"conditioning_channels": 4}, "it takes images of 4 channels; those given have 3"),
    ],
)
def test_other_differences_are_named(tiny_sdxl_folder, tmp_path, settings, why):
    net = open_control(write_tiny_control(tmp_path / "net", tiny_sdxl_folder, **settings))
    assert why in why_not(net, sources(tiny_sdxl_folder), "m")


def test_damaged_files_are_refused(tiny_sdxl_folder, tmp_path):
    net, unet = open_control(write_tiny_control(tmp_path / "net", tiny_sdxl_folder)), {}
    without = {name: shape for name, shape in net.shapes.items() if name != "conv_in.weight"}
    with pytest.raises(ModelRefused, match=r"not laid out as a ControlNet .*: conv_in\.weight is missing"):
        control_config(replace(net, shapes=without), unet)
    with pytest.raises(ModelRefused, match=r"conv_in\.weight has the shape \(3,\)"):
        control_config(replace(net, shapes={**net.shapes, "conv_in.weight": (3,)}), unet)
    with pytest.raises(ModelRefused, match="have gaps"):
        control_config(replace(net, shapes={**net.shapes, "down_blocks.7.resnets.0.conv2.weight": (1,)}), unet)
