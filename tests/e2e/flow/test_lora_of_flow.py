"""LoRAs in the first names of a transformer, in which one layer may be three of diffusers': as if merged by hand."""

import re
import shutil
from functools import partial

import numpy as np
import pytest
import tiny_chroma
import tiny_flux1
import tiny_flux2
import tiny_krea2
import tiny_qwen_image
import tiny_sd3
import tiny_z_image
import torch
from flow_parity import ours
from original_files import weights, write, write_split
from tiny_flow import qwen_tokenizer, t5_tokenizer

from mezzotint.errors import ModelRefused
from mezzotint.families import tokenizers
from mezzotint.protocol import LoraRef

RANK, ALPHA = 4, 2.0
FAMILIES = {  # how a folder is written, how its files, and layers by their first names
    "z-image": (
        tiny_z_image.write_tiny_z_image,
        tiny_z_image.split_files,
        r"layers\.0\.attention\.qkv|layers\.1\.(attention\.out|feed_forward\.w1)|noise_refiner\.0\.attention\.qkv",
    ),
    "flux2-klein": (
        tiny_flux2.write_tiny_klein,
        tiny_flux2.split_files,
        r"(double|single)_blocks\.\d\.(?!norm).*|img_in|txt_in|time_in\..*|final_layer\..*|.*_modulation.*",
    ),
    "krea2": (
        partial(tiny_krea2.write_tiny_krea2, layers=tiny_krea2.PUBLISHED_LAYERS, blocks=2),
        tiny_krea2.split_files,
        r"(txtfusion\.\w+_)?blocks\.\d\..*|first|last\.linear|tproj\.1|txtmlp\.[13]|tmlp\.[02]",
    ),
    "qwen-image": (
        tiny_qwen_image.write_tiny_qwen_image,
        tiny_qwen_image.split_files,
        r"transformer_blocks\.\d\.(attn|img_mlp|txt_mlp|img_mod)\..*|img_in|proj_out",
    ),
    "flux": (
        tiny_flux1.write_tiny_flux,
        tiny_flux1.split_files,
        r"(double|single)_blocks\.\d\.(?!norm).*|img_in|txt_in|(time|vector|guidance)_in\..*|final_layer\..*",
    ),
    "chroma": (
        partial(tiny_chroma.write_tiny_chroma, use_dynamic_shifting=False, shift=1.0),
        tiny_chroma.split_files,
        r"(double|single)_blocks\.\d\.(?!norm).*|img_in|txt_in|distilled_guidance_layer\..*|final_layer\..*",
    ),
    "sd3": (
        tiny_sd3.write_tiny_sd3,
        tiny_sd3.split_files,
        r"joint_blocks\.\d\.(x|context)_block\..*|context_embedder|[ty]_embedder\.mlp\.[02]|final_layer\..*",
    ),
}


@pytest.fixture(scope="module", params=FAMILIES)
def model(request, tmp_path_factory):
    build, split, layers = FAMILIES[request.param]
    folder = build(tmp_path_factory.mktemp(request.param) / "folder-turbo")
    files = split(folder)
    tensors = next(iter(files.values()))
    matrices = [name.removesuffix(".weight") for name, each in tensors.items() if each.ndim == 2]
    return folder, files, [name for name in matrices if re.fullmatch(layers, name)]


@pytest.fixture
def files(model):
    return model[1]


@pytest.fixture(autouse=True)
def small_vocabulary(monkeypatch):
    monkeypatch.setattr(tokenizers, "qwen_tokenizer", qwen_tokenizer)
    monkeypatch.setattr(tokenizers, "t5_tokenizer", t5_tokenizer)


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


@pytest.mark.slow_after(3)
@pytest.mark.parametrize("spelt", [comfyui, kohya])
def test_as_if_it_were_merged(model, tmp_path, spelt):
    _, files, layers = model
    transformer = dict(next(iter(files.values())))
    lora = {}
    for seed, layer in enumerate(layers):
        down, up = factors(transformer[f"{layer}.weight"], seed)
        lora |= spelt(layer, down, up)
        transformer[f"{layer}.weight"] = transformer[f"{layer}.weight"] + ALPHA / RANK * up @ down
    merged = write_split(tmp_path / "merged", {**files, next(iter(files)): transformer})
    plain, added = write_split(tmp_path / "plain", files), write(tmp_path / "lora.safetensors", lora)
    expected = ours(merged, tmp_path, steps=2).astype(int)
    mine = ours(plain, tmp_path, steps=2, loras=(LoraRef(path=str(added)),)).astype(int)
    assert np.abs(mine - ours(plain, tmp_path, steps=2)).max() > 8
    assert np.abs(mine - expected).max() <= 1


@pytest.mark.slow_after(3)
@pytest.mark.parametrize(
    "model", [pytest.param(one, marks=pytest.mark.slow) if one == "krea2" else one for one in FAMILIES], indirect=True
)
def test_in_the_names_of_diffusers(model, tmp_path):
    folder, files, _ = model
    lora = {}
    transformer = weights(folder, "transformer")
    for seed, (name, weight) in enumerate(transformer.items()):
        if weight.ndim == 2 and name.endswith(".weight") and ("blocks." in name or "layers." in name):
            down, up = factors(weight, seed)
            lora |= {key.replace("diffusion_model.", "transformer."): each
                     for key, each in comfyui(name.removesuffix(".weight"), down, up).items()}  # fmt: skip
            transformer[name] = weight + ALPHA / RANK * up @ down
    plain, added = write_split(tmp_path / "plain", files), write(tmp_path / "lora.safetensors", lora)
    mine = ours(plain, tmp_path, steps=2, loras=(LoraRef(path=str(added)),)).astype(int)
    assert np.abs(mine - ours(plain, tmp_path, steps=2)).max() > 8
    merged = tmp_path / "merged-turbo"
    shutil.copytree(folder, merged)
    for path in (merged / "transformer").glob("*.safetensors"):
        path.unlink()
    write(merged / "transformer" / "diffusion_pytorch_model.safetensors", transformer)
    assert np.abs(mine - ours(merged, tmp_path, steps=2)).max() <= 1


@pytest.mark.slow_after(3)
def test_one_for_another_model_is_refused(files, tmp_path):
    down, up = torch.ones(RANK, 9), torch.ones(7, RANK)
    lora = write(tmp_path / "lora.safetensors", comfyui("double_blocks.0.img_attn.qkv", down, up))
    with pytest.raises(ModelRefused, match="the LoRA seems to be for FLUX"):
        ours(write_split(tmp_path / "plain", files), tmp_path, steps=2, loras=(LoraRef(path=str(lora)),))
