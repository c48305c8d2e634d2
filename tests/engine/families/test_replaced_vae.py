"""Files with a VAE are recognised in every naming, by the shapes of the model's own."""

import pytest
import torch
from original_files import ldm_vae, wan_vae, weights, write
from tiny_flux2 import write_tiny_klein
from tiny_qwen_image import write_tiny_qwen_image
from tiny_sdxl import vae_name, write_single_file, write_tiny_sdxl

from mezzotint.checkpoints.opening import open_checkpoint
from mezzotint.errors import ModelRefused
from mezzotint.families.detection import detect
from mezzotint.families.family import LoadedModel
from mezzotint.families.known import family_of
from mezzotint.families.loading.networks import load_components
from mezzotint.families.replaced_vae import is_vae_alone, own_vae, with_vae

OLD = {"to_q": "query", "to_k": "key", "to_v": "value", "to_out.0": "proj_attn"}  # in diffusers before 0.17
PREFIX = "first_stage_model."


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_tiny_sdxl(tmp_path_factory.mktemp("models") / "tiny")


@pytest.fixture(scope="module")
def tensors(folder):
    return weights(folder, "vae")


def sources_of(path):
    checkpoint = open_checkpoint(path)
    detected = detect(checkpoint)
    return family_of(detected.family).sources(checkpoint, detected)


def older(name):
    for new, old in OLD.items():
        name = name.replace(f".{new}.", f".{old}.")
    return name


def loaded(sources):
    model = LoadedModel(sources=sources, device=torch.device("cpu"), dtype=torch.float32, identity="")
    load_components(model, ["vae"], on_bytes=lambda *_: None, cancelled=lambda: False, notify=lambda _: None)
    return model.networks["vae"].state_dict()


def assert_loaded(sources, wanted):
    """The VAE of these components has these weights."""
    found = loaded(sources)
    assert found.keys() == wanted.keys()
    assert all(torch.equal(found[name], each) for name, each in wanted.items())


@pytest.mark.parametrize("named", [str, older, vae_name, lambda name: PREFIX + vae_name(name)], ids=range(4))
def test_a_vae_in_any_naming_fits_a_folder_and_a_file(tmp_path, folder, tensors, named):
    whole = write_single_file(folder, tmp_path / "whole.safetensors")
    other = {name: each * 0.5 for name, each in tensors.items()}
    path = write(tmp_path / "vae.safetensors", {named(name): each for name, each in other.items()})
    for model in map(sources_of, (folder, whole)):
        assert own_vae(model).mismatch(path) is None
        assert_loaded(with_vae(model, path), other)


@pytest.mark.parametrize(
    ("write_folder", "original"), [(write_tiny_klein, ldm_vae), (write_tiny_qwen_image, wan_vae)], ids=["flux2", "wan"]
)
def test_a_folder_takes_the_names_of_its_familys_files(tmp_path, write_folder, original):
    folder = write_folder(tmp_path / "folder")
    model, other = sources_of(folder), {name: each * 0.5 for name, each in weights(folder, "vae").items()}
    write(next((folder / "vae").glob("*.safetensors")), other)
    for name, named in (("original", original(folder)), ("diffusers", other)):
        path = write(tmp_path / f"{name}.safetensors", named)
        assert own_vae(model).mismatch(path) is None
        assert_loaded(with_vae(model, path), other)


def test_what_differs_is_told(tmp_path, folder, tensors):
    name, own = "decoder.conv_out.bias", own_vae(sources_of(folder))
    less = write(tmp_path / "less.safetensors", {key: each for key, each in tensors.items() if key != name})
    more = write(tmp_path / "more.safetensors", tensors | {name: torch.zeros(4)})
    assert own.mismatch(less) == f"{name} is absent, in the model's VAE it has [3]"
    assert own.mismatch(more) == f"{name} has the shape [4], in the model's VAE it has [3]"


def test_a_pickle_is_refused(tmp_path, folder):
    (tmp_path / "vae.pt").write_bytes(b"\x80\x02}")
    with pytest.raises(ModelRefused, match="a pickle, which can run code"):
        own_vae(sources_of(folder)).mismatch(tmp_path / "vae.pt")


def test_a_whole_checkpoint_is_more_than_a_vae(tmp_path, folder, tensors):
    whole = write_single_file(folder, tmp_path / "whole.safetensors")
    assert own_vae(sources_of(folder)).mismatch(whole) is None
    assert not is_vae_alone(whole) and is_vae_alone(write(tmp_path / "vae.safetensors", tensors))
