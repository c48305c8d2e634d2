"""Configurations of Stable Diffusion 1.5 derived from shapes: as published, and those of the small models' folders."""

import json

import pytest
import torch
from published_sizes import CLIP_L, VAE, empty, header_of
from safetensors.torch import load_file
from tiny_sd15 import write_sd15_file, write_tiny_sd15
from tiny_sdxl import unet_name, vae_name

from mezzotint.checkpoints.header import read_header
from mezzotint.errors import ModelRefused
from mezzotint.families.loading.original_names import layout_of, place
from mezzotint.families.loading.original_sd15 import component_configs, sd15_scheduler

# The sizes of stable-diffusion-v1-5, as its config.json files give them.
UNET = {
    "sample_size": 64,
    "in_channels": 4,
    "out_channels": 4,
    "layers_per_block": 2,
    "block_out_channels": [320, 640, 1280, 1280],
    "down_block_types": [*["CrossAttnDownBlock2D"] * 3, "DownBlock2D"],
    "up_block_types": ["UpBlock2D", *["CrossAttnUpBlock2D"] * 3],
    "attention_head_dim": 8,
    "cross_attention_dim": 768,
}
WORDS = "cond_stage_model.transformer."


def published_header(words=WORDS + "text_model.", channels=4):
    from diffusers import AutoencoderKL, UNet2DConditionModel
    from transformers import CLIPTextModel

    unet = empty(UNet2DConditionModel, {**UNET, "in_channels": channels}).state_dict()
    tensors = {f"model.diffusion_model.{unet_name(name, 2, (1, 2, 3))}": each for name, each in unet.items()}
    vae = empty(AutoencoderKL, VAE).state_dict()
    tensors |= {f"first_stage_model.{vae_name(name, levels=4)}": each for name, each in vae.items()}
    texts = empty(CLIPTextModel, CLIP_L).state_dict()
    tensors |= {words + name.removeprefix("text_model."): each for name, each in texts.items()}
    return header_of({name: tensor.shape for name, tensor in tensors.items()})


@pytest.mark.parametrize("words", [WORDS + "text_model.", WORDS])
def test_the_published_sizes_come_out(words):
    configs = component_configs(published_header(words))
    expected = {**UNET, "use_linear_projection": False}
    assert {key: configs["unet"][key] for key in expected} == expected
    vae = {**VAE, "sample_size": 512, "scaling_factor": 0.18215}
    assert {key: configs["vae"][key] for key in vae} == vae
    assert {key: configs["text_encoder"][key] for key in CLIP_L} == CLIP_L
    assert configs["scheduler"]["_class_name"] == "PNDMScheduler"


def test_an_inpainting_network_has_nine_channels():
    assert component_configs(published_header(channels=9))["unet"]["in_channels"] == 9


def test_pure_noise_at_the_end_is_walked_with_another_scheduler():
    made = sd15_scheduler("v_prediction", zero_terminal_snr=True)
    assert made["_class_name"] == "EulerDiscreteScheduler"
    assert (made["prediction_type"], made["timestep_spacing"]) == ("v_prediction", "trailing")


def test_text_of_another_width_is_told():
    header = published_header()
    shapes = {name: spec.shape for name, spec in header.tensors.items()}
    shapes["model.diffusion_model.middle_block.1.transformer_blocks.0.attn2.to_k.weight"] = (1280, 1024)
    with pytest.raises(ModelRefused, match=r"not laid out as Stable Diffusion 1\.5 is: its U-Net takes text of width"):
        component_configs(header_of(shapes))


def test_a_file_holds_what_its_folder_does(tmp_path):
    folder = write_tiny_sd15(tmp_path / "model")
    file = write_sd15_file(folder, tmp_path / "model.safetensors")
    header = read_header(file)
    configs = component_configs(header)
    for name in ("unet", "vae", "text_encoder"):
        said = json.loads((folder / name / "config.json").read_text())
        left_out = {"_class_name", "sample_size", "architectures", "transformer_layers_per_block"}
        for key in configs[name].keys() & said.keys() - left_out:
            assert configs[name][key] == said[key], (name, key)
    tensors, layout = load_file(file), layout_of(header.tensors)
    placed = {(part.component, part.name): part.take(tensors[name]) for name in tensors for part in place(name, layout)}
    for component, stem in {"unet": "diffusion_pytorch_model", "vae": "diffusion_pytorch_model"}.items():
        for name, tensor in load_file(folder / component / f"{stem}.safetensors").items():
            assert torch.equal(placed[component, name], tensor), name
