"""FLUX.2 Klein: what images that agree with another program's cannot show."""

import json
import shutil

import pytest
import torch
from tiny_flux2 import autoencoder, write_tiny_klein

from mezzotint.checkpoints.folder import open_folder
from mezzotint.errors import ModelRefused
from mezzotint.families.autoencoder import decode_latents, encode_pixels
from mezzotint.families.detection import detect
from mezzotint.families.flux2.family import Flux2Klein


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_tiny_klein(tmp_path_factory.mktemp("klein") / "model")


@pytest.mark.parametrize(
    ("said", "place", "variant", "steps"),
    [
        (True, "base", "distilled", 4),
        (False, "klein", "base", 50),
        (None, "FLUX.2-klein-9B", "distilled", 4),
        (None, "FLUX.2-Klein-Base-9B", "base", 50),
        (None, "models--black-forest-labs--FLUX.2-klein-base-4B/snapshots/0a1b", "base", 50),
    ],
)
def test_distilled_models_are_told_by_their_word_or_their_name(folder, tmp_path, said, place, variant, steps):
    copied = shutil.copytree(folder, tmp_path / place)
    index = json.loads((folder / "model_index.json").read_text()) | {"is_distilled": said}
    (copied / "model_index.json").write_text(json.dumps(index))
    found = detect(open_folder(copied))
    assert (found.family, found.variant, found.defaults.steps) == ("flux2-klein", variant, steps)


def test_the_encoder_ends_where_the_last_states_are_taken(folder):
    checkpoint = open_folder(folder)
    config = Flux2Klein().sources(checkpoint, detect(checkpoint)).components["text_encoder"].config
    assert config["num_hidden_layers"] == len(config["layer_types"]) == 27
    assert not config["tie_last_hidden_states"]  # else they would be normed


def test_an_encoder_of_too_few_layers_is_refused(tmp_path):
    checkpoint = open_folder(write_tiny_klein(tmp_path / "model", layers=26))
    with pytest.raises(ModelRefused, match="26 layers"):
        Flux2Klein().sources(checkpoint, detect(checkpoint))


@pytest.mark.parametrize("tokens", [16, 1024, 4096, 4300, 4301, 8192])
@pytest.mark.parametrize("steps", [1, 4, 50, 200])
def test_noise_is_shifted_as_its_pipeline_does(tokens, steps):
    from diffusers.pipelines.flux2.pipeline_flux2_klein import compute_empirical_mu

    assert Flux2Klein().mu({}, tokens, steps) == compute_empirical_mu(tokens, steps)


def test_its_latents_are_those_of_its_pipeline():
    from diffusers import Flux2KleinPipeline

    vae, pixels = autoencoder(), torch.rand(1, 3, 64, 48) * 2 - 1
    with torch.no_grad():
        mine = encode_pixels(vae, pixels, torch.Generator().manual_seed(3))
        own = vae.encode(pixels).latent_dist.sample(torch.Generator().manual_seed(3))
        patches = Flux2KleinPipeline._patchify_latents(own)
        spread = torch.sqrt(vae.bn.running_var.view(1, -1, 1, 1) + vae.config.batch_norm_eps)
        assert torch.equal(mine, (patches - vae.bn.running_mean.view(1, -1, 1, 1)) / spread)
        unpatched = Flux2KleinPipeline._unpatchify_latents(mine * spread + vae.bn.running_mean.view(1, -1, 1, 1))
        assert torch.equal(decode_latents(vae, mine), vae.decode(unpatched, return_dict=False)[0])
