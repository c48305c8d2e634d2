"""Another VAE in a model that has its own: a diffusers folder and a whole checkpoint."""

import json

import numpy as np
import pytest
from original_files import write
from PIL import Image
from safetensors.torch import load_file, save_file
from tiny_sdxl import vae_name, write_single_file, write_tiny_sdxl

from mezzotint.catalog.catalog import Catalog
from mezzotint.cli import main
from mezzotint.protocol import ModelRef

WEIGHTS = "diffusion_pytorch_model.safetensors"
OLD = {"to_q": "query", "to_k": "key", "to_v": "value", "to_out.0": "proj_attn"}  # in diffusers before 0.17


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_tiny_sdxl(tmp_path_factory.mktemp("models") / "checkpoints" / "tiny")


@pytest.fixture(scope="module")
def halved(folder):
    return {name: tensor * 0.5 for name, tensor in load_file(folder / "vae" / WEIGHTS).items()}


@pytest.fixture(scope="module")
def own(tmp_path_factory, halved):
    """A model whose own VAE is the other one."""
    made = write_tiny_sdxl(tmp_path_factory.mktemp("own") / "tiny")
    save_file(halved, made / "vae" / WEIGHTS)
    return made


def original(tensors):
    return {
        vae_name(name): each[:, :, None, None] if each.ndim == 2 and "attentions" in name else each
        for name, each in tensors.items()
    }


def older(tensors):
    def named(name):
        for new, old in OLD.items():
            name = name.replace(f".{new}.", f".{old}.")
        return name

    return {named(name): each for name, each in tensors.items()}


@pytest.fixture
def generate(tmp_path, capsys):
    def call(*words):
        said = ("--steps", "1", "--seed", "7", "--size", "64x64", "--dtype", "float32", "--json", "-o", f"{tmp_path}/")
        assert main(["generate", "a red house", *map(str, words), *said]) == 0
        return np.asarray(Image.open(json.loads(capsys.readouterr().out)["images"][0]["path"]))

    return call


@pytest.mark.slow
def test_the_image_is_that_of_a_model_whose_own_it_is(generate, tmp_path, folder, halved, own):
    file = write_single_file(folder, tmp_path / "tiny.safetensors")
    wanted, plain = generate("-m", own), generate("-m", folder)
    assert (wanted != plain).any()
    in_folder, in_file = (
        write(tmp_path / name, tensors)
        for name, tensors in (("a.safetensors", original(halved)), ("b.safetensors", older(halved)))
    )
    np.testing.assert_array_equal(generate("-m", folder, "--vae", in_folder), wanted)
    np.testing.assert_array_equal(generate("-m", file, "--vae", in_file), wanted)


def test_it_is_remembered_listed_and_reset(folder, halved):
    vae = write(folder.parent.parent / "vae" / "other.safetensors", halved)
    whole = write_single_file(folder, folder.parent / "whole.safetensors")
    for model in (folder, whole):
        ref = ModelRef(id=str(model))
        (listed,) = Catalog.standard().part_files(ref)
        assert (listed.component, listed.file, listed.chosen, listed.fitting) == ("vae", "", False, (str(vae),))
        assert main(["models", "set", str(model), "--vae", str(vae)]) == 0
        part = next(part for part in Catalog.standard().inspect(ref).parts if part.name == "vae")
        assert (part.file, part.chosen) == (str(vae), True)
        (listed,) = Catalog.standard().part_files(ref)
        assert (listed.file, listed.chosen) == (str(vae), True)
        assert main(["models", "set", str(model), "--vae", "auto"]) == 0
        assert not Catalog.standard().part_files(ref)[0].chosen


def test_one_that_is_gone_is_named_and_can_be_reset(tmp_path, folder, halved):
    vae = write(tmp_path / "gone.safetensors", halved)
    assert main(["models", "set", str(folder), "--vae", str(vae)]) == 0
    vae.unlink()
    assert "gone.safetensors" in (Catalog.standard().at(folder).problem or "")
    assert main(["models", "set", str(folder), "--vae", "auto"]) == 0
    assert Catalog.standard().at(folder).problem is None


def test_text_encoders_stay_the_models_own(capsys, folder, halved, tmp_path):
    words = write(tmp_path / "clip.safetensors", {"text_model.final_layer_norm.bias": halved["decoder.conv_out.bias"]})
    assert main(["generate", "x", "-m", str(folder), "--text-encoder", str(words)]) != 0
    assert "can be chosen only for a transformer in a file of its own" in capsys.readouterr().err


def test_a_vae_of_other_shapes_is_refused(capsys, tmp_path, folder, halved):
    name = "decoder.conv_in.weight"
    wide = write(tmp_path / "wide.safetensors", halved | {name: halved[name].repeat(1, 2, 1, 1)})
    assert main(["generate", "x", "-m", str(folder), "--vae", str(wide)]) != 0
    assert f"{name} has the shape [64, 8, 3, 3], in the model's VAE it has [64, 4, 3, 3]" in capsys.readouterr().err
