"""FLUX.1 from Nunchaku's files: the images of the same layers in our own layout, and what is refused."""

import numpy as np
import pytest
import tiny_flux1
from flow_parity import ours
from nunchaku_files import SIDES, nunchaku_transformer
from original_files import weights, write, write_split
from tiny_flow import t5_tokenizer

from mezzotint.catalog.catalog import Catalog
from mezzotint.families import tokenizers
from mezzotint.protocol import ModelRef

NAME = "diffusion_models/svdq-int4_r32-flux.1-dev.safetensors"


@pytest.fixture(autouse=True)
def small_vocabulary(monkeypatch):
    monkeypatch.setattr(tokenizers, "t5_tokenizer", t5_tokenizer)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A diffusers folder whose layers are in our layout, and its files with the transformer in Nunchaku's."""
    sides = SIDES | {"num_layers": 1, "num_single_layers": 1}
    folder = tiny_flux1.write_tiny_flux(tmp_path_factory.mktemp("flux") / "folder", **sides)
    made, same = nunchaku_transformer(weights(folder, "transformer"))
    _, *others = tiny_flux1.split_files(folder).items()
    for path in (folder / "transformer").glob("*.safetensors"):
        path.unlink()
    write(folder / "transformer" / "diffusion_pytorch_model.safetensors", same, {"format": "pt"})
    return folder, {NAME: made, **dict(others)}


def test_images_are_those_of_the_same_layers_in_our_own_layout(files, tmp_path):
    folder, tensors = files
    transformer = write_split(tmp_path / "models", tensors)
    info = Catalog.standard().find(ModelRef(id=str(transformer))).info
    assert (info.family, info.variant, info.scheme, info.problem) == ("flux", "dev", "svdquant", None)
    mine, wanted = ours(transformer, tmp_path, steps=2), ours(folder, tmp_path, steps=2)
    assert mine.std() > 10
    np.testing.assert_allclose(mine.astype(int), wanted.astype(int), rtol=0, atol=1)
