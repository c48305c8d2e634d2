"""Our attention in transformers that ask diffusers' `dispatch_attention_fn`."""

import numpy as np
import pytest
from card_kernels import CardKernels
from fake_kernels import FakeKernels, fake_backends
from flow_parity import request_of
from PIL import Image
from tiny_z_image import write_tiny_z_image

from mezzotint.attention.self_test import CASES
from mezzotint.catalog.catalog import Catalog
from mezzotint.engine import Engine


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_tiny_z_image(tmp_path_factory.mktemp("z") / "Z-Image-Turbo")


def test_every_layer_attends_by_our_kernels_in_each_of_two_jobs(folder, tmp_path, every_device):
    kernels = (FakeKernels if every_device == "cpu" else CardKernels)()
    engine = Engine(Catalog.standard(), attention=fake_backends(kernels))
    plain = made(Engine(Catalog.standard()), request_of(folder, tmp_path, attention="sdpa", steps=2))
    launched = []
    for _ in range(2):
        before = len(kernels.launches)
        picture = made(engine, request_of(folder, tmp_path, attention="flash", dtype="bfloat16", steps=2))
        launched.append(len(kernels.launches) - before)
        assert np.abs(picture - plain).mean() < 8
    blocks = 1 + 1 + 2  # refiners of noise and words, and layers
    of_the_decoder = 1
    assert launched == [len(CASES) + 2 * blocks + of_the_decoder, 2 * blocks + of_the_decoder]


def made(engine, request) -> np.ndarray:
    result = engine.generate(request, lambda _: None, lambda: False)
    return np.array(Image.open(result.images[0].path)).astype(int)
