"""Our attention in transformers that ask diffusers' `dispatch_attention_fn`."""

import numpy as np
import pytest
from card_kernels import CardKernels
from fake_kernels import FakeKernels, fake_backends
from flow_parity import request_of
from PIL import Image
from tiny_chroma import write_tiny_chroma
from tiny_flux1 import write_tiny_flux
from tiny_flux2 import write_tiny_klein
from tiny_krea2 import write_tiny_krea2
from tiny_qwen_image import write_tiny_qwen_image
from tiny_sana import write_tiny_sana
from tiny_sd3 import write_tiny_sd3
from tiny_z_image import write_tiny_z_image

from mezzotint.attention.self_test import CASES
from mezzotint.catalog.catalog import Catalog
from mezzotint.engine import Engine

# How a model is written, how often a pass through its transformer attends, and how often its decoder does.
MODELS = {
    "z-image": (write_tiny_z_image, 1 + 1 + 2, 1),  # refiners of noise and words, and layers
    "flux2-klein": (write_tiny_klein, 2 + 2, 1),  # blocks of two streams and of one
    "flux": (write_tiny_flux, 2 + 2, 1),
    "qwen-image": (write_tiny_qwen_image, 2, 0),
    "krea2": (write_tiny_krea2, 1 + 1 + 2, 0),  # over layers of the encoder, over words, and over all
    "chroma": (write_tiny_chroma, 1 + 2, 1),  # blocks of two streams and of one
    "sana": (write_tiny_sana, 2, 0),  # to words; among themselves its tokens attend linearly
    "sd3": (write_tiny_sd3, 2 + 1, 1),  # blocks, the first of which attends twice
}


SLOW = ("qwen-image", "sana", "flux2-klein")  # whose blocks have tests of their own


@pytest.fixture(
    scope="module", params=[pytest.param(each, marks=[pytest.mark.slow] * (each in SLOW)) for each in MODELS]
)
def model(request, tmp_path_factory):
    write, blocks, of_the_decoder = MODELS[request.param]
    return write(tmp_path_factory.mktemp("models") / request.param), blocks, of_the_decoder


@pytest.mark.slow_after(2)
def test_every_layer_attends_by_our_kernels_in_each_of_two_jobs(model, tmp_path, every_device):
    folder, blocks, of_the_decoder = model
    kernels = (FakeKernels if every_device == "cpu" else CardKernels)()
    engine = Engine(Catalog.standard(), attention=fake_backends(kernels))
    sampling = {"steps": 2, "guidance_scale": 1.0, "dtype": "bfloat16"}
    plain = made(engine, request_of(folder, tmp_path, attention="sdpa", **sampling))
    launched = []
    for _ in range(2):
        before = len(kernels.launches)
        image = made(engine, request_of(folder, tmp_path, attention="flash", **sampling))
        launched.append(len(kernels.launches) - before)
        assert np.abs(image - plain).mean() < 3
    assert launched == [len(CASES) + 2 * blocks + of_the_decoder, 2 * blocks + of_the_decoder]


def made(engine, request) -> np.ndarray:
    result = engine.generate(request, lambda _: None, lambda: False)
    return np.array(Image.open(result.images[0].path)).astype(int)
