"""Colours are normalized as a configuration beside the network says."""

import json

import pytest

from mezzotint.errors import ModelRefused
from mezzotint.perception.background.preprocessing import Normalization, normalization_of


def written(folder, **said):
    (folder / "preprocessor_config.json").write_text(json.dumps(said))


def test_as_the_configuration_says(tmp_path):
    path = tmp_path / "onnx" / "model.onnx"
    path.parent.mkdir()
    assert normalization_of(path) == Normalization()
    written(tmp_path, image_mean=[0.5, 0.5, 0.5], image_std=[1, 1, 1], size={"width": 1024, "height": 1024})
    assert normalization_of(path) == normalization_of(path.with_name("x.onnx"))
    assert normalization_of(path) == Normalization((0.5, 0.5, 0.5), (1.0, 1.0, 1.0))
    written(path.parent, do_normalize=False)
    assert normalization_of(path) == Normalization((0.0, 0.0, 0.0), (1.0, 1.0, 1.0))


def test_isnet_has_its_own(tmp_path):
    assert normalization_of(tmp_path / "isnet-general-use.onnx").mean == (0.5, 0.5, 0.5)


@pytest.mark.parametrize(
    "said", [{"image_mean": [1, 2]}, {"image_std": "x"}, {"image_std": [1, 0, 1]}, {"image_mean": [1e9, 0, 0]}]
)
def test_damaged_ones_are_refused(tmp_path, said):
    written(tmp_path, **said)
    with pytest.raises(ModelRefused, match="image_"):
        normalization_of(tmp_path / "model.onnx")
