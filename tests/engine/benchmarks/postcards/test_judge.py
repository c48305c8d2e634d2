"""The judge as a network and as two files."""

import json

import pytest
import torch
from safetensors.torch import load_file, save_file

from mezzotint import paths
from mezzotint.benchmarks.postcards.captions import VALUES
from mezzotint.benchmarks.postcards.judge import build_judge, bundled_judge, load_judge, pixels_of, save_judge
from mezzotint.benchmarks.postcards.painting import paint
from mezzotint.benchmarks.postcards.world import training_scene
from mezzotint.errors import ModelRefused, StorageError


@pytest.fixture
def pixels():
    return pixels_of([paint(training_scene(0, index)) for index in range(3)])


@pytest.fixture
def saved(tmp_path):
    save_judge(build_judge(1), tmp_path, {"steps": 0})
    return tmp_path


def test_a_head_for_every_attribute_and_a_score_for_every_value(pixels):
    scores = build_judge(0)(pixels)
    assert {name: tuple(score.shape) for name, score in scores.items()} == {
        name: (3, len(values)) for name, values in VALUES.items()
    }


def test_an_image_is_judged_the_same_alone_and_among_others(pixels):
    judge = build_judge(0).eval()
    together, alone = judge.features(pixels), judge.features(pixels[1:2])
    torch.testing.assert_close(together[1:2], alone, rtol=1e-4, atol=1e-5)


def test_pixels_run_from_minus_one_to_one_at_any_size():
    scene = training_scene(0, 1)
    small, large = pixels_of([paint(scene)]), pixels_of([paint(scene, 256)])
    assert small.shape == large.shape == (1, 3, 128, 128)
    assert -1 <= small.min() < 0 < small.max() <= 1
    assert (small - large).abs().mean() < 0.05


def test_building_one_leaves_torch_s_random_numbers_alone():
    torch.manual_seed(3)
    wanted = torch.rand(2)
    torch.manual_seed(3)
    first, second = build_judge(7), build_judge(7)
    assert torch.equal(torch.rand(2), wanted)
    assert all(torch.equal(a, b) for a, b in zip(first.parameters(), second.parameters(), strict=True))


def test_it_comes_back_from_its_files(saved, pixels):
    judge, again = build_judge(1).half().float().eval(), load_judge(saved)
    assert not again.training
    for name, score in judge(pixels).items():
        assert torch.equal(again(pixels)[name], score)


def test_its_files_are_small_plain_and_in_float16(saved):
    assert sorted(path.name for path in saved.iterdir()) == ["config.json", "model.safetensors"]
    assert (saved / "model.safetensors").stat().st_size < 10**6
    assert {tensor.dtype for tensor in load_file(saved / "model.safetensors").values()} == {torch.float16}
    assert sum(weight.numel() for weight in build_judge(0).parameters()) < 500_000
    config = json.loads((saved / "config.json").read_text("utf-8"))
    assert config["what"] == "judge"
    assert config["trained"] == {"steps": 0}
    assert "model_index" not in config


def test_saving_replaces_what_is_there(saved):
    save_judge(build_judge(2), saved, {"steps": 1})
    assert torch.equal(load_judge(saved).gather.weight, build_judge(2).gather.weight.half().float())


def test_the_bundled_one_lies_beside_the_bundled_models(monkeypatch, tmp_path):
    monkeypatch.setattr(paths, "assets_folder", lambda: tmp_path)
    assert bundled_judge() == tmp_path / "starter" / "judge"


def test_where_there_is_none_the_error_says_what_makes_one(tmp_path):
    with pytest.raises(StorageError, match="no judge in .*: `make starter .* creates it"):
        load_judge(tmp_path / "judge")


def test_a_folder_that_cannot_be_made_is_told(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageError, match="cannot create the folder"):
        save_judge(build_judge(1), tmp_path / "file" / "judge", {})


@pytest.mark.parametrize(
    "change",
    [
        {"attributes": {**VALUES, "time": ("dawn", "day")}},
        {"attributes": None},
        {"size": 64},
    ],
)
def test_one_of_another_world_is_refused(saved, change):
    config = json.loads((saved / "config.json").read_text("utf-8"))
    (saved / "config.json").write_text(json.dumps(config | change), "utf-8")
    with pytest.raises(ModelRefused, match="a different version of the images; `make starter"):
        load_judge(saved)


def test_weights_of_another_network_are_refused(saved):
    tensors = load_file(saved / "model.safetensors")
    save_file(tensors | {"gather.weight": torch.zeros(3, 3)}, saved / "model.safetensors")
    with pytest.raises(ModelRefused, match="weights have other names"):
        load_judge(saved)
    save_file({"gather.weight": tensors["gather.weight"]}, saved / "model.safetensors")
    with pytest.raises(ModelRefused, match="weights have other names"):
        load_judge(saved)


def test_damaged_files_are_refused(saved):
    whole = (saved / "model.safetensors").read_bytes()
    (saved / "model.safetensors").write_bytes(whole[:-9])
    with pytest.raises(ModelRefused):
        load_judge(saved)
    (saved / "model.safetensors").unlink()
    with pytest.raises(StorageError):
        load_judge(saved)
    (saved / "config.json").write_text("[]", "utf-8")
    with pytest.raises(ModelRefused):
        load_judge(saved)
