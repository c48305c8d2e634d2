"""The scaling between pixels and latents, with an autoencoder that changes nothing."""

from types import SimpleNamespace

import pytest
import torch
from tiny_flow import video_autoencoder

from mezzotint.families.autoencoder import decode_latents, encode_pixels
from mezzotint.families.autoencoder_space import latent_space


class Identity:
    """Encodes to the same numbers, with no noise."""

    device, dtype = torch.device("cpu"), torch.float32

    def __init__(self, **config):
        self.config = SimpleNamespace(**{"scaling_factor": 0.5} | config)

    def encode(self, pixels):
        certain = torch.cat([pixels, torch.full_like(pixels, -30)], dim=1)  # the least variance that is drawn with
        return SimpleNamespace(latent_dist=SimpleNamespace(parameters=certain))

    def decode(self, latents, return_dict):
        return (latents,)


@pytest.mark.parametrize(
    ("config", "latent"),
    [
        ({}, 0.5),
        ({"shift_factor": 0.2}, 0.4),
        ({"latents_mean": [0.2, 0.2, 0.2], "latents_std": [2.0, 2.0, 2.0]}, 0.2),
    ],
)
def test_there_and_back(config, latent):
    vae, pixels = Identity(**config), torch.ones(1, 3, 4, 4)
    latents = encode_pixels(vae, pixels, torch.Generator())
    torch.testing.assert_close(latents, torch.full_like(pixels, latent))
    torch.testing.assert_close(decode_latents(vae, latents), pixels)


def test_latent_spaces_are_told_apart():
    sdxl = {"latent_channels": 4, "scaling_factor": 0.13025, "block_out_channels": [128, 256, 512, 512]}
    assert latent_space(sdxl) == latent_space({**sdxl, "block_out_channels": [1, 2, 3, 4], "sample_size": 512})
    for other in ({"scaling_factor": 0.18215}, {"latent_channels": 16}, {"block_out_channels": [128, 256]}):
        assert latent_space(sdxl) != latent_space(sdxl | other)


@pytest.fixture(scope="module")
def small_vae():
    from diffusers import AutoencoderKL

    torch.manual_seed(0)
    channels = (16, 32)
    return AutoencoderKL(
        block_out_channels=channels,
        down_block_types=("DownEncoderBlock2D",) * 2,
        up_block_types=("UpDecoderBlock2D",) * 2,
        norm_num_groups=8,
        latent_channels=4,
    ).eval()


def psnr(a, b):
    return float(10 * torch.log10((a.max() - a.min()) ** 2 / (a - b).square().mean()))


@torch.no_grad()
def test_in_tiles_it_is_nearly_the_same_image(small_vae):
    smooth = torch.nn.functional.interpolate(torch.randn(1, 4, 5, 7), size=(40, 56), mode="bicubic")
    whole, tiled = decode_latents(small_vae, smooth), decode_latents(small_vae, smooth, 64)
    assert tiled.shape == whole.shape == (1, 3, 80, 112) and psnr(whole, tiled) > 20
    assert torch.equal(decode_latents(small_vae, smooth, 112), whole)  # one tile holds it all
    pixels = whole.clamp(-1, 1)
    latents = [encode_pixels(small_vae, pixels, torch.Generator().manual_seed(0), tile) for tile in (0, 64)]
    assert latents[1].shape == latents[0].shape and psnr(*latents) > 20


@torch.no_grad()
def test_one_made_for_films_is_given_one_frame_whole_and_in_tiles():
    torch.manual_seed(0)
    vae = video_autoencoder()
    smooth = torch.nn.functional.interpolate(torch.randn(1, 16, 3, 4), size=(12, 16), mode="bicubic")
    whole, tiled = decode_latents(vae, smooth), decode_latents(vae, smooth, 64)
    assert tiled.shape == whole.shape == (1, 3, 96, 128) and psnr(whole, tiled) > 20
    latents = [encode_pixels(vae, whole, torch.Generator().manual_seed(0), tile) for tile in (0, 64)]
    assert latents[1].shape == latents[0].shape == smooth.shape and psnr(*latents) > 20


@torch.no_grad()
def test_a_reference_is_the_likeliest_latent():
    vae = video_autoencoder()
    pixels = torch.rand(1, 3, 64, 64) * 2 - 1
    mode = vae.encode(pixels[:, :, None]).latent_dist.mode()[:, :, 0]
    mean, std = (torch.tensor(each).view(1, -1, 1, 1) for each in (vae.config.latents_mean, vae.config.latents_std))
    assert encode_pixels(vae, pixels, None).equal((mode - mean) / std)
