"""LoRAs in the first names of a transformer, in which one layer may be three of diffusers': as if merged by hand."""

import numpy as np
import pytest
import torch
from flow_parity import ours
from original_files import write, write_split
from tiny_flow import qwen_tokenizer
from tiny_z_image import split_files, write_tiny_z_image

from mezzotint.errors import ModelRefused
from mezzotint.families import tokenizers
from mezzotint.protocol import LoraRef

RANK, ALPHA = 4, 2.0
LAYERS = (
    "layers.0.attention.qkv",
    "layers.1.attention.out",
    "layers.1.feed_forward.w1",
    "noise_refiner.0.attention.qkv",
)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    return split_files(write_tiny_z_image(tmp_path_factory.mktemp("z") / "folder-turbo"))


@pytest.fixture(autouse=True)
def small_vocabulary(monkeypatch):
    monkeypatch.setattr(tokenizers, "qwen_tokenizer", qwen_tokenizer)


def factors(weight, seed):
    generator = torch.Generator().manual_seed(seed)
    rows, columns = weight.shape
    return torch.randn(RANK, columns, generator=generator) * 0.2, torch.randn(rows, RANK, generator=generator) * 0.2


def comfyui(layer, down, up):
    name = f"diffusion_model.{layer}"
    return {f"{name}.lora_A.weight": down, f"{name}.lora_B.weight": up, f"{name}.alpha": torch.tensor(ALPHA)}


def kohya(layer, down, up):
    name = "lora_unet_" + layer.replace(".", "_")
    return {f"{name}.lora_down.weight": down, f"{name}.lora_up.weight": up, f"{name}.alpha": torch.tensor(ALPHA)}


@pytest.mark.parametrize("spelt", [comfyui, kohya])
def test_as_if_it_were_merged(files, tmp_path, spelt):
    transformer = dict(next(iter(files.values())))
    lora = {}
    for seed, layer in enumerate(LAYERS):
        down, up = factors(transformer[f"{layer}.weight"], seed)
        lora |= spelt(layer, down, up)
        transformer[f"{layer}.weight"] = transformer[f"{layer}.weight"] + ALPHA / RANK * up @ down
    merged = write_split(tmp_path / "merged", {**files, next(iter(files)): transformer})
    plain, added = write_split(tmp_path / "plain", files), write(tmp_path / "lora.safetensors", lora)
    expected = ours(merged, tmp_path, steps=2).astype(int)
    mine = ours(plain, tmp_path, steps=2, loras=(LoraRef(path=str(added)),)).astype(int)
    assert np.abs(mine - ours(plain, tmp_path, steps=2)).max() > 8
    assert np.abs(mine - expected).max() <= 1


def test_one_for_another_model_is_refused(files, tmp_path):
    down, up = torch.ones(RANK, 9), torch.ones(7, RANK)
    lora = write(tmp_path / "lora.safetensors", comfyui("double_blocks.0.img_attn.qkv", down, up))
    with pytest.raises(ModelRefused, match="seems to be for FLUX"):
        ours(write_split(tmp_path / "plain", files), tmp_path, steps=2, loras=(LoraRef(path=str(lora)),))
