"""Sparse attention on the CPU and on the simulated card, in joint attention and in a U-Net; no step waits for it."""

import pytest
from flow_parity import request_of
from tiny_qwen_image import write_tiny_qwen_image

from mezzotint.catalog.catalog import Catalog
from mezzotint.engine import Engine

pytestmark = pytest.mark.usefixtures("every_device")
SIDE = 192  # pixels: several tiles of tokens


@pytest.fixture(scope="module", params=["qwen-image", pytest.param("sdxl", marks=pytest.mark.slow)])
def folder(request, tmp_path_factory, tiny_sdxl_folder):
    if request.param == "sdxl":
        return tiny_sdxl_folder
    return write_tiny_qwen_image(tmp_path_factory.mktemp("models") / request.param)


def made(folder, tmp_path, how, **more):
    job = request_of(folder, tmp_path, steps=2, side=SIDE, sparse_attention=how, **more)
    return Engine(Catalog.standard()).generate(job, lambda _: None, lambda: False)


@pytest.mark.slow
def test_it_changes_the_image_and_a_density_of_1_does_not(folder, tmp_path):
    results = [made(folder, tmp_path, how) for how in (None, ("pooled", 1.0), ("pooled", 0.3), ("window", 0.3))]
    plain, whole, pooled, window = (result.images[0].sha256 for result in results)
    assert plain == whole and len({plain, pooled, window}) == 3
    assert results[2].stages[0].sparse_attention == ("pooled", 0.3)
