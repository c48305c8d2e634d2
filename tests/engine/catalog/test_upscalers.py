"""Upscalers are found by name in the folders that other programs keep them in."""

import pytest

from mezzotint.catalog.named_files import UPSCALERS, named_files
from mezzotint.catalog.places import Places
from mezzotint.catalog.upscalers import upscaler_at
from mezzotint.errors import UnknownModel


@pytest.fixture
def places(tmp_path):
    bundled, comfy, own = (tmp_path / name for name in ("assets", "ComfyUI", "models"))
    for path in (
        bundled / "upscaler/model.safetensors",
        comfy / "models/upscale_models/4x-Sharp.pth",
        comfy / "models/upscale_models/readme.txt",
        own / "ESRGAN/2x-Soft.safetensors",
    ):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    return Places(bundled=bundled, models=own, named=(comfy,))


def test_they_have_names(places):
    assert list(named_files(places, UPSCALERS)) == ["starter-2x", "2x-Soft", "4x-Sharp"]
    assert upscaler_at("4x-Sharp", places).name == "4x-Sharp.pth"


def test_paths_are_taken(places, tmp_path):
    path = tmp_path / "here.safetensors"
    path.touch()
    assert upscaler_at(str(path), places) == path


def test_unknown_ones_are_named(places):
    with pytest.raises(UnknownModel, match="did you mean 4x-Sharp"):
        upscaler_at("4x-sharp", places)
    with pytest.raises(UnknownModel, match="starter-2x, 2x-Soft"):
        upscaler_at("something else", places)
    with pytest.raises(UnknownModel, match="none"):
        upscaler_at("x", Places())
