"""The starters' preview decoder: distilled from the bundled VAE, resumed, and read by the engine."""

from dataclasses import replace

import pytest
import torch
from diffusers import AutoencoderKL
from safetensors.torch import load_file

from mezzotint.families.autoencoder_space import LatentLayout
from mezzotint.families.preview_decoder.reading import read_preview_decoder
from mezzotint.paths import assets_folder
from mezzotint_starter import recipe
from mezzotint_starter.plan import miniature
from mezzotint_starter.preview_decoder import augmented, build_preview_decoder, preview_psnr

DIT = assets_folder() / "starter" / "dit"


@pytest.fixture(autouse=True)
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.mark.slow
def test_a_decoder_is_made_again_from_its_state(tmp_path):
    plan = replace(miniature(tmp_path / "work", tmp_path / "out", steps=2), measured=2)
    path = recipe.run(plan, "preview-decoder") / "dit" / "preview_decoder" / "model.safetensors"
    first = load_file(path)
    recipe.run(plan, "preview-decoder")
    again = load_file(path)
    assert all(torch.equal(first[name], value) for name, value in again.items())
    assert {value.dtype for value in first.values()} == {torch.float16}
    assert read_preview_decoder(path).patch(LatentLayout(channels=4, factor=8)) == 1


def test_the_bundled_decoder_is_near_the_vaes_images():
    vae = AutoencoderKL.from_pretrained(DIT / "vae", local_files_only=True).eval()
    network = read_preview_decoder(DIT / "preview_decoder" / "model.safetensors").network.float()
    assert preview_psnr(network, vae, seed=0, device="cpu", images=4) > 24
    assert preview_psnr(build_preview_decoder(0), vae, seed=0, device="cpu", images=4) < 15


def test_every_other_latent_is_a_mixture():
    latents = torch.arange(4.0).view(4, 1, 1, 1).expand(4, 4, 64, 64)
    means = augmented(latents, torch.Generator().manual_seed(0)).mean(dim=(1, 2, 3))
    assert means[::2].tolist() == pytest.approx([0, 2], abs=0.01)
    assert 1.01 < means[1] < 1.99
    assert 0 < means[3] < 2.99
