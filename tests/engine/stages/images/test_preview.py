"""Previews: the colours of an autoencoder that is linear are found exactly."""

import base64
import io
from types import SimpleNamespace

import numpy as np
import torch
from PIL import Image

from mezzotint.stages.images.preview import Previewer, as_text

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
    previewer = Previewer(Linear(), 8)
    for colour in ([255.0, 0.0, 0.0], [10.0, 200.0, 90.0], [255.0, 255.0, 255.0]):
        shown = np.array(previewer.image(latents_of(colour)))
        np.testing.assert_allclose(shown, np.broadcast_to(np.array(colour), shown.shape), atol=1)


def test_the_jpeg_is_small_and_travels_as_text():
    jpeg = Previewer(Linear(), 8).jpeg(torch.randn(1, 4, 128, 128))
    assert Image.open(io.BytesIO(jpeg)).size == (384, 384) and len(jpeg) < 200_000
    assert base64.b64decode(as_text(jpeg)) == jpeg
