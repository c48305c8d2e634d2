"""ControlNets recognised on disk, and what is refused by name."""

import json

import pytest
import torch
from safetensors.torch import load_file, save_file
from tiny_control import original_name, weights_of, write_original_control, write_tiny_control
from tiny_sd15 import write_tiny_sd15

from mezzotint.errors import ModelRefused
from mezzotint.families.control.checkpoint import control_files, open_control


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return write_tiny_sd15(tmp_path_factory.mktemp("model") / "model")


@pytest.fixture(scope="module")
def net(model):
    return write_tiny_control(model.parent / "net", model)


def test_names_and_shapes_are_those_of_diffusers_in_every_layout(net, tmp_path):
    shapes = {name: tuple(tensor.shape) for name, tensor in load_file(weights_of(net)).items()}
    layouts = [net, weights_of(net)]
    layouts += [
        write_original_control(net, tmp_path / f"{len(lead)}.safetensors", prefix=lead)
        for lead in ("", "control_model.")
    ]
    for path in layouts:
        found = open_control(path)
        assert found.shapes == shapes
        assert not found.is_union
        assert found.bytes == weights_of(net).stat().st_size or found.original is not None
    assert control_files(net) == (weights_of(net).resolve(),)
    assert control_files(weights_of(net)) == (weights_of(net),)
    assert original_name("conv_in.weight") == "input_blocks.0.0.weight"


def test_a_union_is_told_by_its_tensors(model, tmp_path):
    union = write_tiny_control(tmp_path / "union", model, union=8, addition_time_embed_dim=8)
    config = json.loads((union / "config.json").read_text())
    (union / "config.json").write_text(json.dumps({**config, "_class_name": "ControlNetModel_Union"}))
    found = open_control(union)
    assert found.is_union and found.shapes["task_embedding"] == (8, 32)


@pytest.mark.parametrize(
    ("tensors", "what"),
    [
        (["body.0.resnets.0.block1.weight"], "no ControlNet but a T2I-Adapter under its original names, which is not"),
        (["lora_controlnet"], "a Control-LoRA"),
        (["lllite_unet_input_blocks_1.down.weight"], "a ControlNet-LLLite"),
        (["controlnet_blocks.0.weight"], "a ControlNet of another transformer"),
        (
            ["double_blocks.0.a", "controlnet_x_embedder.weight", "input_hint_block.0.weight"],
            "XLabs' ControlNet of FLUX",
        ),
        (["unet.lora_down.weight"], "a LoRA"),
        (["ip_adapter.1.to_k_ip.weight"], "an IP-Adapter"),
        (["input_blocks.0.0.weight"], "a Stable Diffusion UNet alone"),
    ],
)
def test_other_files_are_named(tmp_path, tensors, what):
    path = tmp_path / "file.safetensors"
    save_file({name: torch.zeros(1) for name in tensors}, path)
    with pytest.raises(ModelRefused, match=what):
        open_control(path)


def test_pickles_and_models_are_refused(model, tmp_path):
    (tmp_path / "net.pth").write_bytes(b"\x80\x02}q")
    with pytest.raises(ModelRefused, match="a pickle, which can run code"):
        open_control(tmp_path / "net.pth")
    with pytest.raises(ModelRefused, match="a whole model; give the folder or file of a ControlNet"):
        open_control(model)
    with pytest.raises(ModelRefused, match=r"no config\.json"):
        open_control(tmp_path)


@pytest.mark.parametrize(
    ("config", "what"),
    [
        ({"_class_name": "UNet2DConditionModel"}, "the class UNet2DConditionModel is not one of ControlNetModel"),
        ({"_class_name": "ControlNetModel", "auto_map": {}}, "'auto_map' requires code"),
    ],
)
def test_folders_of_another_kind(tmp_path, config, what):
    (tmp_path / "config.json").write_text(json.dumps(config))
    with pytest.raises(ModelRefused, match=what):
        open_control(tmp_path)


def test_a_folder_with_code_or_links_out_of_it_is_refused(net, tmp_path):
    folder = tmp_path / "net"
    folder.mkdir()
    (folder / "config.json").write_bytes((net / "config.json").read_bytes())
    (folder / "evil.py").write_text("")
    with pytest.raises(ModelRefused, match=r"evil\.py"):
        open_control(folder)
    (folder / "evil.py").unlink()
    (folder / "diffusion_pytorch_model.safetensors").symlink_to(weights_of(net))
    with pytest.raises(ModelRefused, match="link"):
        open_control(folder)
