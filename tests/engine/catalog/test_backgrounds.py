"""Networks that remove backgrounds are found by name."""

import pytest

from mezzotint.catalog.backgrounds import background_at, backgrounds_in
from mezzotint.catalog.catalog import Catalog
from mezzotint.catalog.places import Places
from mezzotint.errors import UnknownModel


def test_folders_of_hubs_and_files(tmp_path):
    for name in ("BiRefNet_lite/onnx/model.onnx", "BiRefNet_lite/preprocessor_config.json", "rembg/isnet.onnx"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    places = Places(models=tmp_path)
    hubs = tmp_path / "BiRefNet_lite/onnx/model.onnx"
    assert backgrounds_in(places) == {"BiRefNet_lite": hubs, "isnet": tmp_path / "rembg/isnet.onnx"}
    assert background_at(None, places) == hubs
    assert background_at("isnet", places).name == "isnet.onnx"
    catalog = Catalog(places)
    assert catalog.at(hubs.parent.parent).family == "background" and catalog.models() == ()


def test_none(tmp_path):
    with pytest.raises(UnknownModel, match="models get onnx-community/BiRefNet_lite-ONNX"):
        background_at(None, Places(models=tmp_path))
    with pytest.raises(UnknownModel, match="no network x removes backgrounds"):
        background_at("x", Places(models=tmp_path))
