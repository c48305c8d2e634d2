"""The file of a preview decoder follows from the latent space."""

from pathlib import Path

import pytest
from tiny_decoders import original_file

from mezzotint.families.family import ComponentSource
from mezzotint.families.preview_decoder.lookup import lookup, usual_name

SPACES = {
    "taesd": {},
    "taesdxl": {"scaling_factor": 0.13025},
    "taesd3": {"scaling_factor": 1.5305, "shift_factor": 0.0609, "latent_channels": 16},
    "taef1": {"scaling_factor": 0.3611, "shift_factor": 0.1159, "latent_channels": 16},
    "taef2": {"_class_name": "AutoencoderKLFlux2"},
    "taesana": {"_class_name": "AutoencoderDC", "scaling_factor": 0.41407},
    None: {"_class_name": "AutoencoderKLQwenImage"},
}


@pytest.fixture
def vae(tmp_path):
    """Where to look for the decoder of a VAE in a diffusers folder, with files of `names` in a folder vae_approx."""

    def build(*names, **config):
        for name in names:
            original_file(tmp_path / "vae_approx" / name)
        files = (tmp_path / "model" / "vae" / "diffusion_pytorch_model.safetensors",)
        source = ComponentSource(
            name="vae",
            library="diffusers",
            class_name="AutoencoderKL",
            config=config,
            folder=None,
            files=files,
            bytes=1,
        )
        return lookup(source, (tmp_path / "vae_approx",))

    return build


@pytest.mark.parametrize("name", SPACES)
def test_the_latent_space_has_a_usual_name(name):
    assert usual_name(SPACES[name]) == name


def test_other_latent_spaces_have_none():
    assert usual_name({"scaling_factor": 7}) is None
    assert usual_name({"scaling_factor": "many"}) is None


@pytest.mark.parametrize(
    "name", ["taesd_decoder.safetensors", "taesd.safetensors", "taesd/diffusion_pytorch_model.safetensors"]
)
def test_files_have_usual_names(vae, tmp_path, name):
    assert vae("taef1_decoder.safetensors").found() is None
    assert vae(name).found() == tmp_path / "vae_approx" / name


def test_the_folder_beside_the_vae_comes_first(vae, tmp_path):
    own = original_file(tmp_path / "model" / "preview_decoder" / "model.safetensors")
    assert vae("taesd_decoder.safetensors").found() == own


def test_what_is_missing_is_named_with_its_folders(vae, tmp_path):
    words = vae().missing()
    assert words.startswith("put taesd_decoder.safetensors into one of the folders")
    assert str(Path("model") / "preview_decoder") in words
    assert str(tmp_path / "vae_approx") in words
    assert "none is known for this VAE" in vae(_class_name="AutoencoderKLQwenImage").missing()
