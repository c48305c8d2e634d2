"""What dropped things are, by their heads alone."""

import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from own_images import write_own
from PIL import Image
from PIL.PngImagePlugin import PngInfo
from tiny_sd15 import write_sd15_file, write_tiny_sd15

from mezzotint.library import examine as examining
from mezzotint.library.examine import examine
from mezzotint.paths import assets_folder


def kind(path):
    found = examine(str(path))
    assert found.path == str(path) and found.detail and "\n" not in found.detail
    return found.kind


def detail(path):
    return examine(str(path)).detail


def test_images_name_the_program_whose_settings_they_hold(tmp_path):
    write_own(tmp_path / "a.png", prompt="a red barn\nby the sea " + "x" * 200)
    assert kind(tmp_path / "a.png") == "image"
    assert "Mezzotint: a red barn\\nby the sea" in detail(tmp_path / "a.png") and len(detail(tmp_path / "a.png")) < 200
    texts = PngInfo()
    texts.add_text("parameters", "a barn\nSteps: 20, Sampler: Euler a, CFG scale: 7, Seed: 5, Size: 8x8")
    Image.new("RGB", (8, 8)).save(tmp_path / "b.png", pnginfo=texts)
    assert "A1111 or Forge: a barn" in detail(tmp_path / "b.png")
    Image.new("RGB", (8, 9)).save(tmp_path / "photo.jpg")
    assert kind(tmp_path / "photo.jpg") == "image" and "8x9" in detail(tmp_path / "photo.jpg")
    (tmp_path / "photo.jpg").rename(tmp_path / "named by nobody")
    assert kind(tmp_path / "named by nobody") == "image"


def test_models_in_both_layouts(tiny_single_file, tiny_sdxl_folder, tiny_pixart_folder):
    for path in (tiny_single_file, tiny_sdxl_folder, tiny_pixart_folder, tiny_pixart_folder / "model_index.json"):
        assert kind(path) == "model"
    assert "SDXL base" in detail(tiny_single_file) and "PixArt sigma" in detail(tiny_pixart_folder)


def test_stable_diffusion_1_in_both_layouts(tmp_path):
    folder = write_tiny_sd15(tmp_path / "model", inpaint=True)
    file = write_sd15_file(folder, tmp_path / "model.safetensors")
    assert detail(folder).startswith("a model: Stable Diffusion 1.5 inpaint")
    assert detail(file).startswith("a model: Stable Diffusion 1.5 inpaint")


def test_loras(tmp_path):
    import torch
    from safetensors.torch import save_file

    names = "lora_unet_input_blocks_4_1_transformer_blocks_0_attn2_to_k"
    save_file(
        {f"{names}.lora_down.weight": torch.zeros(4, 2048), f"{names}.lora_up.weight": torch.zeros(640, 4)},
        tmp_path / "a.safetensors",
    )
    assert kind(tmp_path / "a.safetensors") == "lora" and "for SDXL" in detail(tmp_path / "a.safetensors")
    save_file({"emb_params": torch.zeros(2, 768)}, tmp_path / "b.safetensors")
    assert kind(tmp_path / "b.safetensors") == "unknown" and "embedding" in detail(tmp_path / "b.safetensors")


def test_folders(tmp_path, tiny_single_file):
    assert kind(assets_folder() / "starter") == "model_folder"
    tree = tmp_path / "ComfyUI" / "models" / "checkpoints"
    tree.mkdir(parents=True)
    assert kind(tmp_path / "ComfyUI") == "model_folder" and "ComfyUI" in detail(tmp_path / "ComfyUI")
    (tmp_path / "extra.yaml").write_text(f"comfyui:\n  checkpoints: {tree}\n")
    assert kind(tmp_path / "extra.yaml") == "model_folder"
    (tmp_path / "none.yaml").write_text("a: 1")
    assert kind(tmp_path / "none.yaml") == "unknown"
    (tmp_path / "hub" / "models--a--b" / "snapshots").mkdir(parents=True)
    assert kind(tmp_path / "hub") == "model_folder"
    images = tmp_path / "images" / "deeper"
    images.mkdir(parents=True)
    assert kind(images) == "unknown" and "neither" in detail(images)
    for name in ("a.png", "b.JPG", "c.txt", ".hidden.png"):
        (images / name).touch()
    assert kind(tmp_path / "images") == "image_folder" and "(2)" in detail(tmp_path / "images")


def test_large_folders_are_looked_at_up_to_a_bound(tmp_path, monkeypatch):
    monkeypatch.setattr(examining, "MOST_ENTRIES", 50)
    for number in range(80):
        (tmp_path / f"{number}.png").touch()
    assert "(50 or more)" in detail(tmp_path)
    for path in tmp_path.iterdir():
        path.rename(path.with_suffix(".txt"))
    assert kind(tmp_path) == "unknown" and "large" in detail(tmp_path)


def test_job_files(tmp_path):
    (tmp_path / "job.toml").write_text('prompt = "a barn"\n')
    (tmp_path / "job.json").write_text('{"prompt": "a barn"}')
    assert kind(tmp_path / "job.toml") == kind(tmp_path / "job.json") == "job"
    graph = {"3": {"class_type": "KSampler", "inputs": {}}}
    for name, workflow in (("api.json", graph), ("ui.json", {"nodes": [], "links": []})):
        (tmp_path / name).write_text(json.dumps(workflow))
        assert kind(tmp_path / name) == "unknown" and "ComfyUI" in detail(tmp_path / name)


UNUSABLE = {
    "empty.png": b"",
    "cut.png": b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR",
    "text.jpg": b"a barn",
    "deep.json": b"[" * 100_000,
    "deep.toml": b"a = " + b"[" * 100_000,
    "bad.toml": b"a = = 1",
    "bad.json": b"{",
    "list.json": b"[1]",
    "deep.yaml": b"[" * 1000,
    "page.safetensors": b"<!doctype html><title>log in</title>",
    "model.ckpt": b"\x80\x02}q\0.",
    "bomb.safetensors": b"\xff\xff\xff\xff\xff\xff\xff\x7f{",
    "zip.pt": b"PK\x03\x04" + bytes(100),
    "half.gguf": b"GGUF\x03\0\0\0",
    "nothing": b"\x01\x02",
    "words.txt": b"hello",
}


@pytest.mark.parametrize("name", UNUSABLE)
def test_what_cannot_be_used_is_told_why(tmp_path, name):
    (tmp_path / name).write_bytes(UNUSABLE[name])
    assert kind(tmp_path / name) == "unknown"


def test_a_pickle_is_named_as_one(tmp_path):
    (tmp_path / "model.ckpt").write_bytes(b"\x80\x02}q\0.")
    assert "can run code" in detail(tmp_path / "model.ckpt")


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such files")
def test_pipes_devices_and_loops(tmp_path):
    os.mkfifo(tmp_path / "pipe.png")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    for path in (tmp_path / "pipe.png", tmp_path / "loop", Path("/dev/zero"), tmp_path / "absent", Path(os.devnull)):
        assert kind(path) == "unknown"


@given(st.text(max_size=20) | st.sampled_from(["a\0b", "\ud800", "x" * 5000, ""]))
def test_any_name_has_an_answer(name):
    assert examine(name).path == name


@given(st.sampled_from([".png", ".json", ".toml", ".yaml", ".safetensors", ".gguf", ""]), st.binary(max_size=200))
def test_any_bytes_have_an_answer(tmp_path_factory, suffix, data):
    path = tmp_path_factory.mktemp("any") / f"a{suffix}"
    path.write_bytes(data)
    assert kind(path) in ("unknown", "job", "image")
