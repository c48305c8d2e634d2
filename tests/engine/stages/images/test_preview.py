"""Previews: the colours of an autoencoder that is linear are found exactly; small decoders fit memory and size."""

import base64
import io
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from PIL import Image
from tiny_decoders import diffusers_file, tiny_autoencoder

from mezzotint.families.preview_decoder.reading import read_preview_decoder
from mezzotint.memory.accounting import DeviceOutOfMemory
from mezzotint.stages.images.preview import LinearPreviewer, SmallPreviewer, as_text

MIX = torch.tensor([[0.5, 0.2, -0.1, 0.3], [0.1, -0.6, 0.2, 0.1], [-0.2, 0.3, 0.7, -0.4]])


class Linear:
    """Latents are mixed colours of 8x8 pixels."""

    device, dtype = torch.device("cpu"), torch.float32
    config = SimpleNamespace(scaling_factor=2.0)

    def encode(self, pixels):
        small = torch.nn.functional.avg_pool2d(pixels, 8)
        latents = torch.einsum("bchw,cd->bdhw", small, MIX) + 0.25
        certain = torch.cat([latents, torch.full_like(latents, -30)], dim=1)  # the least variance that is drawn with
        return SimpleNamespace(latent_dist=SimpleNamespace(parameters=certain))


def latents_of(colour):
    vae, pixels = Linear(), torch.tensor(colour).view(1, 3, 1, 1).expand(1, 3, 64, 64) / 127.5 - 1
    return vae.encode(pixels).latent_dist.parameters.chunk(2, dim=1)[0] * vae.config.scaling_factor


def test_colours_come_back():
    previewer = LinearPreviewer(Linear(), 8)
    for colour in ([255.0, 0.0, 0.0], [10.0, 200.0, 90.0], [255.0, 255.0, 255.0]):
        shown = np.array(previewer.image(latents_of(colour)))
        np.testing.assert_allclose(shown, np.broadcast_to(np.array(colour), shown.shape), atol=1)


def test_the_jpeg_is_small_and_travels_as_text():
    jpeg = LinearPreviewer(Linear(), 8).jpeg(torch.randn(1, 4, 128, 128))
    assert Image.open(io.BytesIO(jpeg)).size == (384, 384) and len(jpeg) < 200_000
    assert base64.b64decode(as_text(jpeg)) == jpeg


def small_previewer(tmp_path, dtype=torch.float32, room=None):
    path = diffusers_file(tmp_path / "a.safetensors", tiny_autoencoder(blocks=(1, 1, 1, 1)))
    decoder = read_preview_decoder(path)
    return SmallPreviewer(decoder, torch.device("cpu"), dtype, room=room), decoder


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
def test_a_small_decoder_runs_in_the_jobs_dtype(tmp_path, dtype):
    previewer, decoder = small_previewer(tmp_path, dtype)
    latents = torch.randn(1, 4, 5, 8, generator=torch.Generator().manual_seed(0))
    assert decoder.pixels(latents).dtype == dtype
    shown = previewer.image(latents)
    assert shown.size == (256, 160)  # 64 x 40 pixels, enlarged 4 times
    wanted = ((decoder.pixels(latents).float().clamp(-1, 1) + 1) * 127.5).round().byte()[0].permute(1, 2, 0)
    small = np.array(shown.resize((64, 40), Image.Resampling.BOX)).astype(float)
    assert np.abs(small - wanted.numpy()).mean() < 12


def test_large_images_are_reduced_to_means(tmp_path):
    previewer, decoder = small_previewer(tmp_path)
    latents = torch.randn(1, 4, 24, 96)
    shown = previewer.image(latents)
    assert shown.size == (384, 96)
    means = torch.nn.functional.avg_pool2d(decoder.pixels(latents), 2).clamp(-1, 1)[0].permute(1, 2, 0)
    np.testing.assert_allclose(np.array(shown), ((means + 1) * 127.5).numpy(), atol=1)


def test_smaller_tiles_are_tried_when_memory_is_short_then_there_is_no_preview(tmp_path):
    previewer, decoder = small_previewer(tmp_path)
    most = [20]

    def refuse(_, given):
        if max(given[0].shape[-2:]) > most[0]:
            raise DeviceOutOfMemory(requested=1, in_use=1, cap=1)

    decoder.network.register_forward_pre_hook(refuse)
    latents = torch.randn(1, 4, 40, 40)
    assert previewer.image(latents).size == (320, 320)
    most[0] = 4
    assert previewer.jpeg(latents) is None
    most[0] = 99
    assert previewer.image(latents) is None  # it is not tried again


def test_other_errors_are_reported(tmp_path):
    previewer, _ = small_previewer(tmp_path)
    with pytest.raises(RuntimeError):
        previewer.image(torch.randn(1, 7, 8, 8))


def test_values_that_are_no_numbers_are_grey(tmp_path):
    previewer, _ = small_previewer(tmp_path)
    assert np.array(previewer.image(torch.full((1, 4, 2, 2), torch.nan))).tolist()[0][0] == [128, 128, 128]
