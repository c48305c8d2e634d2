"""Folders that diffusers writes, and files in the original naming, are found and recognised."""

import shutil

import pytest

from mezzotint.checkpoints.opening import FileCheckpoint
from mezzotint.checkpoints.read import read_tensors
from mezzotint.protocol import ModelRef


@pytest.mark.parametrize(
    ("fixture", "family", "variant"),
    [
        ("tiny_sdxl_folder", "sdxl", "base"),
        ("tiny_refiner_folder", "sdxl", "refiner"),
        ("tiny_pixart_folder", "pixart", "sigma"),
        ("tiny_single_file", "sdxl", "base"),
        ("tiny_refiner_file", "sdxl", "refiner"),
    ],
)
def test_real_models_are_found(catalog_of, request, tmp_path, fixture, family, variant):
    original = request.getfixturevalue(fixture)
    path = tmp_path / "mine" / original.name
    path.parent.mkdir()
    (shutil.copytree if original.is_dir() else shutil.copyfile)(original, path)
    catalog = catalog_of(tmp_path / "mine")
    bundled, listed = catalog.models()
    assert bundled.id == "starter-dit"
    assert (listed.family, listed.variant, listed.problem) == (family, variant, None)
    checkpoint = catalog.find(ModelRef(id=listed.id)).checkpoint
    if isinstance(checkpoint, FileCheckpoint):
        files = [path]
    else:
        files = [file for component in checkpoint.components.values() for file in component.files[:1]]
    for file in files:
        done = []
        tensors = dict(read_tensors([file], on_bytes=done.append, cancelled=lambda: False))
        assert sum(done) == sum(tensor.nbytes for tensor in tensors.values()) > 0
