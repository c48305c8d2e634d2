"""Models in Nunchaku's files: the images of the same layers in our own layout, how they are listed, what is refused."""

import numpy as np
import pytest
import tiny_flux1
import tiny_qwen_image
import tiny_z_image
import torch
from card_jobs import run
from fake_card.install import fake_card
from flow_parity import ours, request_of
from nunchaku_files import FLUX, QWEN_IMAGE, Z_IMAGE, nunchaku_transformer
from original_files import weights, write, write_split
from PIL import Image
from tiny_flow import t5_tokenizer

from mezzotint.catalog.catalog import Catalog
from mezzotint.errors import ModelRefused
from mezzotint.families import tokenizers
from mezzotint.protocol import ModelRef

GIB = 2**30
NAME = "diffusion_models/svdq-int4_r32-{}.safetensors"
OTHERS = {
    "qwen-image": ("qwen-image", tiny_qwen_image.write_tiny_qwen_image, QWEN_IMAGE, tiny_qwen_image.split_files),
    "z-image": ("z-image-turbo", tiny_z_image.write_tiny_z_image, Z_IMAGE, tiny_z_image.split_files),
}


@pytest.fixture(autouse=True)
def small_vocabulary(monkeypatch):
    monkeypatch.setattr(tokenizers, "t5_tokenizer", t5_tokenizer)


@pytest.fixture(scope="module")
def flux(tmp_path_factory):
    """A diffusers folder whose layers are in our layout, and its files with the transformer in Nunchaku's."""
    folder = tiny_flux1.write_tiny_flux(tmp_path_factory.mktemp("flux") / "folder", **FLUX)
    made, same = nunchaku_transformer(weights(folder, "transformer"))
    _, *others = tiny_flux1.split_files(folder).items()
    for path in (folder / "transformer").glob("*.safetensors"):
        path.unlink()
    write(folder / "transformer" / "diffusion_pytorch_model.safetensors", same, {"format": "pt"})
    return folder, {NAME.format("flux.1-dev"): made, **dict(others)}


def listed(path):
    info = Catalog.standard().find(ModelRef(id=str(path))).info
    assert info.problem is None
    return info.family, info.variant, info.scheme


def test_images_are_those_of_the_same_layers_in_our_own_layout(flux, tmp_path):
    folder, files = flux
    transformer = write_split(tmp_path / "models", files)
    assert listed(transformer) == ("flux", "dev", "svdquant")
    mine, wanted = ours(transformer, tmp_path, steps=2), ours(folder, tmp_path, steps=2)
    assert mine.std() > 10
    np.testing.assert_allclose(mine.astype(int), wanted.astype(int), rtol=0, atol=1)


@pytest.mark.slow
def test_on_a_card_it_is_the_same_image_within_the_plan(flux, tmp_path):
    folder, files = flux
    model = write_split(tmp_path / "models", files)
    images = []
    with fake_card(2 * GIB) as card:
        for each in (folder, model):
            made = run(request_of(each, tmp_path, steps=2, device="cuda:0"))
            images.append(np.array(Image.open(made.images[0].path)).astype(int))
        assert card.hazards == []
    np.testing.assert_allclose(*images, rtol=0, atol=1)
    for phase in made.memory.phases:
        assert phase.measured_bytes <= 1.1 * phase.predicted_bytes, phase


@pytest.mark.parametrize("family", OTHERS)
def test_other_families_are_listed(family, tmp_path):
    name, build, sides, split = OTHERS[family]
    first, *others = split(build(tmp_path / "folder", **sides)).items()
    transformer = write_split(tmp_path / "models", {first[0]: first[1], **dict(others)})
    made, _ = nunchaku_transformer(weights(tmp_path / "folder", "transformer"), family)
    packed = write(tmp_path / "models" / NAME.format(name), made)
    assert listed(packed) == (*listed(transformer)[:2], "svdquant")


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"transformer_blocks.0.qkv_proj.wscales": torch.ones(8, 384).to(torch.float8_e4m3fn)}, r"FP4, .* svdq-int4"),
        ({"transformer_blocks.0.ff.qweight": torch.ones(2, 2)}, "ff.qweight, can be read of FLUX.1, Qwen-Image and Z"),
        ({"x_embedder.weight": None}, "without the rest of the network; get the model in one file"),
        ({"transformer_blocks.0.qkv_proj.qweight": torch.ones(384, 9, dtype=torch.int8)}, r"I8 \(384, 9\)"),
        ({"transformer_blocks.0.mlp_fc1.smooth": torch.ones(2**12).half()}, r"mlp_fc1: smooth F16 \(4096,\)"),
    ],
)
def test_what_cannot_be_read_is_refused_by_its_name(flux, tmp_path, changes, reason):
    made = {name: each for name, each in (flux[1][NAME.format("flux.1-dev")] | changes).items() if each is not None}
    with pytest.raises(ModelRefused, match=reason):
        Catalog.standard().find(ModelRef(id=str(write(tmp_path / "svdq.safetensors", made))))


def test_layers_of_another_width_are_refused(flux, tmp_path):
    made = flux[1][NAME.format("flux.1-dev")]
    same = {name: each for name, each in made.items() if name.startswith("transformer_blocks.0.out_proj.")}
    others = {name.replace("out_proj", "mlp_fc1"): each.clone() for name, each in same.items()}
    transformer = write_split(tmp_path / "models", flux[1] | {NAME.format("flux.1-dev"): made | others})
    with pytest.raises(ModelRefused, match=r"ff\.net\.0\.proj.* has shape .*the file belongs to another model"):
        ours(transformer, tmp_path, steps=1)
