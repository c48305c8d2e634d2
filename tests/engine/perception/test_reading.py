"""Folders of networks that look at images, and folders that are none."""

import json

import pytest
import torch
from safetensors.torch import load_file, save_file
from tiny_perception import change_config, write_detector

from mezzotint.errors import ModelRefused
from mezzotint.perception.reading import open_network


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    folder = tmp_path_factory.mktemp("detector")
    return folder, write_detector(folder)


@pytest.fixture
def folder(written, tmp_path):
    for file in written[0].iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    return tmp_path


def test_weights_come_in_the_names_of_published_files(written):
    folder, network = written
    assert any(".out_proj." in name for name in load_file(folder / "model.safetensors"))  # o_proj in the network
    read = open_network(folder, "detection")
    assert not read.training and not any(each.requires_grad for each in read.parameters())
    expected = network.state_dict()
    assert all(torch.equal(tensor, expected[name]) for name, tensor in read.state_dict().items())


def test_settings_that_name_code_or_files_are_not_read(written, folder):
    inner = {**json.loads((folder / "config.json").read_text())["backbone_config"], "_attn_implementation": "a/b"}
    change_config(
        folder, backbone_config=inner, backbone="a/b", use_timm_backbone=True, attn_implementation="a/b", dtype="int8"
    )
    read = open_network(folder, "detection")
    assert {each.dtype for each in read.parameters()} == {torch.float32}
    assert read.config._attn_implementation != "a/b"


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"architectures": ["BertModel"]}, "BertModel in its config.json is not for detection"),
        ({"architectures": None}, "no class in its config.json"),
        ({"auto_map": {}}, "requires code"),
        ({"backbone_config": None}, "its backbone is None"),
        ({"backbone_config": {"model_type": "bert"}}, "its backbone is bert; only rt_detr_resnet"),
        ({"encoder_layers": 10**6}, "encoder_layers is 1000000; the configuration is damaged"),
        ({"d_model": 10**9}, "d_model is 1000000000"),
        ({"feat_strides": [8] * 3000}, "feat_strides has 3000 entries"),
        ({"d_model": "many"}, "its configuration describes no network"),
        ({"d_model": 17}, "its configuration describes no network"),
        ({"num_queries": 20_000, "learn_initial_query": True}, "weights are described"),
        ({"id2label": {"0": "person"}}, "do not fit"),
    ],
)
def test_other_folders_are_refused(folder, changed, reason):
    change_config(folder, **changed)
    with pytest.raises(ModelRefused, match=reason):
        open_network(folder, "detection")


def test_a_missing_tensor_and_too_large_a_file_are_refused(folder, monkeypatch):
    tensors = load_file(folder / "model.safetensors")
    name = next(name for name in tensors if name.endswith(".weight"))
    save_file(
        {each: tensor for each, tensor in tensors.items() if each != name} | {"spare": tensors[name]},
        folder / "model.safetensors",
    )
    with pytest.raises(ModelRefused, match="1 tensors are missing"):
        open_network(folder, "detection")
    monkeypatch.setattr("mezzotint.perception.reading.LARGEST", 100)
    with pytest.raises(ModelRefused, match="too much"):
        open_network(folder, "detection")
