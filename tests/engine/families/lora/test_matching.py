"""Which layers of a model a LoRA finds, and when it is not for that model."""

from types import SimpleNamespace

import pytest
import torch
from lora_files import write_lora
from torch import nn

from mezzotint.families.lora.file import open_lora
from mezzotint.families.lora.matching import LayerIndex, fit, why_not


class Small(nn.Module):
    def __init__(self, layers_per_block=None):
        super().__init__()
        self.config = SimpleNamespace(layers_per_block=layers_per_block)
        self.conv_in = nn.Conv2d(4, 8, 3)
        self.mid_block = nn.ModuleDict({"attentions": nn.ModuleList([nn.ModuleDict({"proj_in": nn.Linear(8, 6)})])})
        self.norm = nn.LayerNorm(8)


@pytest.fixture
def index():
    text = nn.ModuleDict({"text_model": nn.ModuleDict({"fc1": nn.Linear(5, 7)})})
    return LayerIndex({"unet": Small([2, 2]), "text_encoder": text, "vae": nn.Linear(3, 3)}, "unet")


def lora(tmp_path, **shapes):
    tensors = {}
    for name, (n, k, *window) in shapes.items():
        tensors[f"{name}.lora_down.weight"] = torch.ones(2, k, *window)
        tensors[f"{name}.lora_up.weight"] = torch.ones(n, 2, *[1] * len(window))
    return open_lora(write_lora(tmp_path / "a.safetensors", tensors))


def test_layers_are_found_in_either_naming(index, tmp_path):
    file = lora(
        tmp_path,
        lora_unet_input_blocks_0_0=(8, 4, 3, 3),
        lora_unet_mid_block_attentions_0_proj_in=(6, 8, 1, 1),
        lora_te1_text_model_fc1=(7, 5),
    )
    found = fit(file, index)
    assert {(target.component, target.name) for _, target in found.pairs} == {
        ("unet", "conv_in"),
        ("unet", "mid_block.attentions.0.proj_in"),
        ("text_encoder", "text_model.fc1"),
    }
    assert why_not(file, found, "small") is None
    assert fit(lora(tmp_path, lora_unet_middle_block_1_proj_in=(6, 8)), index).pairs


def test_a_transformer_has_no_original_names():
    assert LayerIndex({"transformer": Small()}, "transformer").find("denoiser", "input_blocks_0_0") == ()


def test_what_is_for_the_third_encoder_is_for_t5_where_that_is_the_second():
    t5 = nn.ModuleDict({"encoder": nn.ModuleDict({"q": nn.Linear(5, 7)})})
    index = LayerIndex({"transformer": Small(), "text_encoder_2": t5}, "transformer")
    (found,) = index.find("text_encoder_3", "encoder_q")
    assert (found.component, found.name) == ("text_encoder_2", "encoder.q")
    both = LayerIndex({"transformer": Small(), "text_encoder_2": t5, "text_encoder_3": t5}, "transformer")
    assert [one.component for one in both.find("text_encoder_3", "encoder_q")] == ["text_encoder_3"]


def test_other_shapes_are_of_another_model(index, tmp_path):
    file = lora(tmp_path, lora_unet_conv_in=(8, 4, 3, 3), lora_unet_mid_block_attentions_0_proj_in=(6, 9))
    why = why_not(file, fit(file, index), "small")
    assert why is not None and "(6, 9), small has (6, 8)" in why and "is for another model" in why


def test_few_layers_in_common_are_too_few(index, tmp_path):
    others = {f"lora_unet_down_blocks_{i}_attn2_to_k": (8, 768) for i in range(3)}
    file = lora(tmp_path, lora_unet_conv_in=(8, 4, 3, 3), **others)
    why = why_not(file, fit(file, index), "small")
    assert why is not None and "has 1 of its 4 layers" in why and "Stable Diffusion 1" in why
    half = lora(tmp_path, lora_unet_conv_in=(8, 4, 3, 3), lora_unet_other=(3, 3))
    assert why_not(half, fit(half, index), "small") is None
    assert [layer.layer for layer in fit(half, index).missing] == ["other"]


def test_norms_take_none(index, tmp_path):
    assert fit(lora(tmp_path, lora_unet_norm=(8, 8)), index).missing
