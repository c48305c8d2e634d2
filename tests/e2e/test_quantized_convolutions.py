"""Images of a copy whose convolutions have 8-bit inputs, by the kernels and by torch, resident and streamed."""

from dataclasses import replace

import numpy as np
import pytest
from card_jobs import pixels, request_of
from card_kernels import CardGroupNorm, CardProducts
from fake_group_norm import FakeGroupNorm, fake_group_norm_backend
from fake_products import FakeProducts, fake_product_backends
from PIL import Image

from mezzotint.catalog.catalog import Catalog
from mezzotint.cli import main
from mezzotint.engine import Engine

pytestmark = pytest.mark.usefixtures("every_device")


@pytest.fixture
def libraries(every_device):
    """The kernels' library, of that device."""
    return (FakeProducts(), FakeGroupNorm()) if every_device == "cpu" else (CardProducts(), CardGroupNorm())


@pytest.fixture
def job(tiny_sdxl_folder, tmp_path):
    copy = tmp_path / "copy"
    assert (
        main(["quantize", str(tiny_sdxl_folder), "--scheme", "int8", "--int8-convolutions", "-o", str(copy), "-q"]) == 0
    )
    return request_of(copy, tmp_path=tmp_path, dtype="bfloat16", attention="sdpa", steps=1)


def run(libraries, request):
    products, norms = libraries or (None, None)
    engine = Engine(
        Catalog.standard(),
        products=None if products is None else fake_product_backends(products),
        group_norm=None if norms is None else fake_group_norm_backend(norms),
    )
    return engine.generate(request, lambda _: None, lambda: False)


def picture(result):
    return np.array(Image.open(result.images[0].path)).astype(int)


@pytest.mark.slow_after(1)
def test_the_kernels_make_the_image(job, libraries):
    plain, result = run(None, job), run(libraries, job)
    calls = [each for each in libraries[0].multiplied if each.image_height]
    assert {each.image_stride for each in calls} == {1, 2} and result.product_calls > len(calls) - 3 > 0
    assert all("convolution" not in fallback.reason for fallback in result.product_fallbacks)
    assert np.abs(picture(result) - picture(plain)).mean() < 4


@pytest.mark.slow
@pytest.mark.parametrize("every_device", ["cuda:0"], indirect=True)
def test_streamed_weights_arrive_as_the_kernels_read_them(job, libraries):
    resident = run(libraries, replace(job, vram_limit_bytes=2**30))
    result = run(libraries, replace(job, vram_limit_bytes=resident.plan.smallest_vram_bytes))
    assert result.product_calls == resident.product_calls > 0
    assert pixels(result) == pixels(resident)
