"""Networks that remove backgrounds are found by name."""

import pytest

from mezzotint.catalog.backgrounds import background_at, backgrounds_in
from mezzotint.catalog.places import Places
from mezzotint.errors import UnknownModel


def test_hubs_name_files_by_their_folder(tmp_path):
    folder = tmp_path / "background_removal"
    for name in ("BiRefNet_lite/onnx/model.onnx", "Other/model.onnx", "isnet.onnx", "isnet.safetensors"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()
    places = Places(models=tmp_path)
    assert set(backgrounds_in(places)) == {"BiRefNet_lite", "Other", "isnet"}
    assert background_at(None, places) == folder / "isnet.onnx"
    assert background_at("Other", places) == folder / "Other" / "model.onnx"


def test_none(tmp_path):
    with pytest.raises(UnknownModel, match="models get"):
        background_at(None, Places(models=tmp_path))
    with pytest.raises(UnknownModel, match="no network x removes backgrounds"):
        background_at("x", Places(models=tmp_path))
