"""Networks that look at images are found among the models, and are none that make images."""

import json

import pytest

from mezzotint.catalog.looking import looking_networks, network_for
from mezzotint.catalog.places import Places
from mezzotint.checkpoints.looking_folder import purpose_of
from mezzotint.errors import UnknownModel


def network(folder, name, labels=()):
    folder.mkdir(parents=True)
    config = {"architectures": [name], "id2label": dict(enumerate(labels))}
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "model.safetensors").write_bytes(b"12345678")
    return folder


@pytest.fixture
def places(tmp_path):
    network(tmp_path / "models/Depth-Small", "DepthAnythingForDepthEstimation")
    network(tmp_path / "models/faces", "RTDetrForObjectDetection", ["face"])
    network(tmp_path / "models/language", "LlamaForCausalLM")
    network(tmp_path / "more/detector", "RTDetrV2ForObjectDetection", ["person", "cat"])
    snapshot = tmp_path / "hub/models--someone--pose-base/snapshots/abc"
    network(snapshot, "VitPoseForPoseEstimation")
    return Places(models=tmp_path / "models", named=(tmp_path / "more",), huggingface=tmp_path / "hub")


def test_they_have_names(places, tmp_path):
    assert looking_networks(places, "depth") == {"Depth-Small": tmp_path / "models/Depth-Small"}
    assert list(looking_networks(places, "detection")) == ["faces", "detector"]
    assert list(looking_networks(places, "pose")) == ["pose-base"]


def test_a_detector_is_chosen_by_what_it_finds(places):
    assert network_for(places, "detection").name == "faces"
    assert network_for(places, "detection", "person").name == "detector"


def test_where_there_is_none_the_error_names_the_command(places):
    with pytest.raises(UnknownModel, match="finds 'dog'.*`mezzotint models get PekingU/rtdetr_v2_r18vd`"):
        network_for(places, "detection", "dog")
    with pytest.raises(UnknownModel, match=r"no network for depth is.*get depth-anything/Depth-Anything-V2-Small-hf"):
        network_for(Places(), "depth")


def test_a_folder_itself_may_be_the_place(places, tmp_path):
    places = Places(named=(tmp_path / "more/detector", tmp_path / "none"))
    assert list(looking_networks(places, "detection")) == ["detector"]


@pytest.mark.parametrize("text", ["", "[]", '{"architectures": []}', '{"architectures": [["A"]]}', "{" * 9000])
def test_broken_configurations_are_none(tmp_path, text):
    (tmp_path / "config.json").write_text(text)
    assert purpose_of(tmp_path) == ""


def test_lists_of_models_leave_them_out_and_they_are_described(catalog_of, places, tmp_path):
    catalog = catalog_of(*places.named, models=places.models, huggingface=places.huggingface)
    assert {model.path for model in catalog.models() if model.problem is not None} == {
        str(tmp_path / "models/language/model.safetensors")
    }
    info = catalog.at(tmp_path / "models/Depth-Small")
    assert (info.id, info.family, info.bytes, info.problem, info.defaults) == ("Depth-Small", "depth", 8, None, None)
    assert catalog.looking("depth") == {"Depth-Small": tmp_path / "models/Depth-Small"}
    assert catalog.network_for("pose").parts[-3:] == ("models--someone--pose-base", "snapshots", "abc")
