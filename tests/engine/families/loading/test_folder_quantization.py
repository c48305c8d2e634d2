"""Folders that say how they are quantized are read so, or refused by the method's name."""

import json
import shutil

import pytest
import torch
from safetensors.torch import load_file, save_file

from mezzotint.checkpoints.opening import open_checkpoint
from mezzotint.errors import ModelRefused
from mezzotint.families.detection import detect
from mezzotint.families.family import LoadedModel
from mezzotint.families.known import family_of
from mezzotint.families.loading import on_disk
from mezzotint.families.loading.networks import load_components

WEIGHTS = {"transformer": "diffusion_pytorch_model.safetensors", "text_encoder": "model.safetensors"}


@pytest.fixture
def pixart(tiny_pixart_folder, tmp_path):
    return shutil.copytree(tiny_pixart_folder, tmp_path / "model")


def say(folder, component, said, **parts):
    """Write a configuration, and the linear weights in e5m2 with `parts` beside them."""
    place, file = folder / component / "config.json", folder / component / WEIGHTS[component]
    place.write_text(json.dumps(json.loads(place.read_text("utf-8")) | {"quantization_config": said}), "utf-8")
    tensors, wanted = {}, {}
    for name, weight in load_file(file).items():
        if parts and weight.ndim == 2 and name.endswith("q.weight"):
            wanted[name] = (weight * 64).to(torch.float8_e5m2).float() / 64
            tensors |= {name: (weight * 64).to(torch.float8_e5m2)}
            tensors |= {f"{name.removesuffix('weight')}{part}": scale.clone() for part, scale in parts.items()}
        else:
            tensors[name] = weight
    save_file(tensors, file)
    return wanted


def test_scales_in_a_text_encoders_folder_are_applied(pixart):
    said = {"quant_method": "fp8", "weight_block_size": None}
    wanted = say(pixart, "text_encoder", said, weight_scale_inv=torch.tensor(1 / 64))
    checkpoint = open_checkpoint(pixart)
    detected = detect(checkpoint)
    sources, told = family_of("pixart").sources(checkpoint, detected), []
    model = LoadedModel(sources=sources, device=torch.device("cpu"), dtype=torch.float32)
    load_components(model, ["text_encoder"], on_bytes=lambda *_: None, cancelled=lambda: False, notify=told.append)
    held = model.networks["text_encoder"].state_dict()
    assert wanted and all(torch.equal(held[name], weight) for name, weight in wanted.items())
    assert told == []


@pytest.mark.parametrize("component", ["transformer", "text_encoder"])
@pytest.mark.parametrize("method", ["torchao", "quanto", "gptq", "awq", "sdnq", 8])
def test_other_methods_are_refused_by_name(pixart, component, method):
    say(pixart, component, {"quant_method": method})
    with pytest.raises(ModelRefused, match=f"{component} is quantized by {method}, which is not supported"):
        detect(open_checkpoint(pixart))


def test_what_says_nothing_of_a_method_is_refused(pixart):
    say(pixart, "transformer", "int4")
    with pytest.raises(ModelRefused, match="transformer is quantized by int4, which is not supported"):
        detect(open_checkpoint(pixart))


def test_scales_that_are_said_must_be_there(pixart):
    file = pixart / "transformer" / WEIGHTS["transformer"]
    floats = {name: each.to(torch.float8_e4m3fn) if each.ndim == 2 else each for name, each in load_file(file).items()}
    save_file(floats, file)
    say(pixart, "transformer", {"quant_method": "fp8"})
    with pytest.raises(ModelRefused, match="is said to be quantized by fp8, but .* has no scale"):
        detect(open_checkpoint(pixart))


def test_scales_of_weights_that_stay_on_disk_are_applied_as_they_are_read(pixart, monkeypatch):
    monkeypatch.setattr(on_disk, "_LEAST", 0)
    wanted = say(pixart, "transformer", None, scale_weight=torch.tensor([1 / 64]))
    checkpoint = open_checkpoint(pixart)
    sources = family_of("pixart").sources(checkpoint, detect(checkpoint))
    here = torch.device("cpu")
    model = LoadedModel(sources=sources, device=here, dtype=torch.float32, from_disk=frozenset({"transformer"}))
    load_components(model, ["transformer"], on_bytes=lambda *_: None, cancelled=lambda: False, notify=lambda _: None)
    assert wanted and all(torch.equal(model.on_disk["transformer"][name].tensor(), wanted[name]) for name in wanted)
