"""Weights that stay in their files: a network that reads them in passing computes the same, and holds nothing."""

import shutil

import pytest
import torch
from model_on_disk import all_states, check_same, load_of
from safetensors.torch import load_file, save_file

from mezzotint.checkpoints.opening import open_checkpoint
from mezzotint.conversion.model import Conversion, convert
from mezzotint.errors import MezzotintError, ModelRefused
from mezzotint.families.detection import detect
from mezzotint.families.known import family_of
from mezzotint.families.loading import on_disk
from mezzotint.families.loading.quantized_cache import QuantizedCache
from mezzotint.memory.blocks import blocks_of
from mezzotint.memory.device import open_device
from mezzotint.memory.residency import Residency
from mezzotint.quantization.policy import Choice

WEIGHTS = "diffusion_pytorch_model.safetensors"


@pytest.fixture(autouse=True)
def _small_tensors_too(monkeypatch):
    monkeypatch.setattr(on_disk, "_LEAST", 1)


def load(path, *, from_disk=(), choices=None, cache=None):
    checkpoint = open_checkpoint(path)
    return load_of(checkpoint, detect(checkpoint), from_disk=from_disk, choices=choices, cache=cache)


@pytest.mark.slow_after(1)
@pytest.mark.parametrize("component", ["vae", "text_encoder", "unet"])
def test_of_a_folder(tiny_sdxl_folder, component):
    check_same(load(tiny_sdxl_folder), load(tiny_sdxl_folder, from_disk={component}), component)


def test_tied_embeddings(tiny_pixart_folder):
    streamed = load(tiny_pixart_folder, from_disk={"text_encoder", "transformer"})
    for component in ("text_encoder", "transformer"):
        check_same(load(tiny_pixart_folder), streamed, component)


@pytest.mark.slow
def test_of_a_single_file_whose_tensors_are_cut_and_turned(tiny_single_file):
    names = {"unet", "text_encoder", "text_encoder_2", "vae"}
    streamed = load(tiny_single_file, from_disk=names)
    for component in names:
        check_same(load(tiny_single_file), streamed, component)


@pytest.mark.slow
def test_other_formats_are_turned_on_the_way(tiny_sdxl_folder, tmp_path):
    folder = shutil.copytree(tiny_sdxl_folder, tmp_path / "half")
    path = folder / "unet" / WEIGHTS
    save_file({name: tensor.half() for name, tensor in load_file(path).items()}, path)
    check_same(load(folder), load(folder, from_disk={"unet"}), "unet")


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["int8", pytest.param("int4-lowrank", marks=pytest.mark.slow)])
def test_of_a_quantized_folder(tiny_sdxl_folder, tmp_path, scheme):
    checkpoint = open_checkpoint(tiny_sdxl_folder)
    sources = family_of("sdxl").sources(checkpoint, detect(checkpoint))
    choices = {"unet": Choice(scheme=scheme, rank=1)}
    convert(Conversion(sources=sources, choices=choices, output=tmp_path / "small"))
    streamed = load(tmp_path / "small", from_disk={"unet"})
    assert any(name.endswith(".quantized_weight") for name in streamed.on_disk["unet"])
    check_same(load(tmp_path / "small"), streamed, "unet")


@pytest.mark.slow
def test_quantized_into_the_cache_first(tiny_sdxl_folder, tmp_path):
    """No more than one weight is in memory at a time, and the result is what loading gives."""
    folder = shutil.copytree(tiny_sdxl_folder, tmp_path / "model")
    for path in folder.rglob("*.safetensors"):
        import os

        os.utime(path, (1, 1))
    cache = QuantizedCache(folder=tmp_path / "cache", on_trouble=pytest.fail)
    choices = {"unet": Choice(scheme="int8")}
    streamed = load(folder, from_disk={"unet"}, choices=choices, cache=cache)
    assert any(name.endswith(".quantized_weight") for name in streamed.on_disk["unet"])
    assert len(list((tmp_path / "cache").iterdir())) == 1
    check_same(load(folder, choices=choices), streamed, "unet")


@pytest.mark.slow
def test_without_room_for_the_cache_it_is_loaded_as_ever(tiny_sdxl_folder, tmp_path):
    cache = QuantizedCache(folder=tmp_path / "cache", on_trouble=lambda _: None, most_bytes=10)
    choices = {"unet": Choice(scheme="int8")}
    model = load(tiny_sdxl_folder, from_disk={"unet"}, choices=choices, cache=cache)
    plain = load(tiny_sdxl_folder, choices=choices)
    quantized = [name for name in all_states(plain.networks["unet"]) if "quantized_" in name]
    assert quantized and not any(name in model.on_disk["unet"] for name in quantized)
    for name in quantized:
        assert torch.equal(all_states(model.networks["unet"])[name], all_states(plain.networks["unet"])[name])


@pytest.mark.parametrize("fault", ["missing", "shape"])
def test_damaged_files_are_refused_before_anything_runs(tiny_sdxl_folder, tmp_path, fault):
    folder = shutil.copytree(tiny_sdxl_folder, tmp_path / "bad")
    tensors = load_file(folder / "unet" / WEIGHTS)
    name = max(tensors, key=lambda each: tensors[each].nbytes)
    if fault == "missing":
        del tensors[name]
    else:
        tensors[name] = torch.zeros(7, 70000)
    save_file(tensors, folder / "unet" / WEIGHTS)
    with pytest.raises(ModelRefused, match="missing|shape"):
        load(folder, from_disk={"unet"})


def test_a_file_that_shrinks_meanwhile_is_told(tiny_sdxl_folder, tmp_path):
    folder = shutil.copytree(tiny_sdxl_folder, tmp_path / "model")
    streamed = load(folder, from_disk={"unet"})
    with open(folder / "unet" / WEIGHTS, "r+b") as file:
        file.truncate(1000)
    residency = Residency(open_device(torch.device("cpu"), reading=False))
    network = streamed.networks["unet"]
    residency.add("network", network, blocks_of(network), resident=0, slots=2, disk=streamed.on_disk["unet"])
    with pytest.raises(MezzotintError, match="shorter|changed"), residency.phase(["network"]):
        pass
