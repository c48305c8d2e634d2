"""Tensors that no network takes are told, except those that are no weights of any."""

import shutil

import torch
from safetensors.torch import load_file, save_file

from mezzotint.checkpoints.opening import open_checkpoint
from mezzotint.families.detection import detect
from mezzotint.families.family import LoadedModel
from mezzotint.families.known import family_of
from mezzotint.families.loading.networks import load_components

UNET = "model.diffusion_model."


def told_of(path, names):
    checkpoint, told = open_checkpoint(path), []
    detected = detect(checkpoint)
    sources = family_of(detected.family).sources(checkpoint, detected)
    model = LoadedModel(sources=sources, device=torch.device("cpu"), dtype=torch.float32)
    load_components(model, names, on_bytes=lambda *_: None, cancelled=lambda: False, notify=told.append)
    return told


def test_a_files_other_tensors_are_told_once_for_the_networks_that_are_loaded(tiny_single_file, tmp_path):
    extra = {f"{UNET}adapter.{at}.weight": torch.zeros(1) for at in range(10)}
    marks = {name: torch.zeros(1) for name in ("v_pred", "model_ema.decay", "cond_stage_model.logit_scale")}
    path = tmp_path / "more.safetensors"
    save_file(load_file(tiny_single_file) | extra | marks, path)
    (told,) = told_of(path, ["unet", "text_encoder"])  # the VAE's tensors are its own
    assert told.startswith(f"{path}: not used: {UNET}adapter.0.weight, ") and told.endswith(" and 2 more")
    assert told_of(tiny_single_file, ["unet", "vae"]) == []


def test_a_folders_other_tensors_are_told(tiny_pixart_folder, tmp_path):
    folder = shutil.copytree(tiny_pixart_folder, tmp_path / "model")
    file = folder / "transformer" / "diffusion_pytorch_model.safetensors"
    save_file(load_file(file) | {"control_blocks.0.weight": torch.zeros(2), "pos_embed.inv_freq": torch.zeros(2)}, file)
    assert told_of(folder, ["transformer", "vae"]) == [f"{file}: not used: control_blocks.0.weight"]
