"""Images of quantized models by the kernels of quantized products, through the engine's one door."""

from pathlib import Path

import numpy as np
import pytest
from card_kernels import CardBlackwell, CardProducts
from fake_block_scaled import FakeBlackwell
from fake_products import FakeProducts, fake_product_backends
from PIL import Image
from tiny_pixart import write_tiny_pixart

from mezzotint.catalog.catalog import Catalog
from mezzotint.engine import Engine
from mezzotint.protocol import Cascade, GenerateRequest, KernelFallback, ModelRef, Notice, Output, Sampling, Stage
from mezzotint.quantization.products.self_test import BLOCK_SCALED, CASES
from mezzotint_kernels.block_scaled_abi import BlockFormat

pytestmark = pytest.mark.usefixtures("every_device")

SELF_TEST = len(CASES["kernels"])  # products


@pytest.fixture
def stand_in(every_device):
    """The kernels' library, of that device."""
    return FakeProducts if every_device == "cpu" else CardProducts


@pytest.fixture
def request_for(tmp_path):
    def build(folder: Path, **fields) -> GenerateRequest:
        stage = Stage(model=ModelRef(id=str(folder)), width=64, height=64, sampling=Sampling(steps=2))
        given = {"prompt": "a red house", "seed": 7, "dtype": "bfloat16", "output": Output(path=f"{tmp_path}/out/")}
        return GenerateRequest(**given | {"cascade": Cascade(stages=(stage,))} | fields)

    return build


def run(library, request, events=None):
    engine = Engine(Catalog.standard(), products=None if library is None else fake_product_backends(library))
    return engine.generate(request, (events if events is not None else []).append, lambda: False)


def pixels(result) -> np.ndarray:
    return np.array(Image.open(result.images[0].path)).astype(int)


@pytest.mark.slow_after(1)
@pytest.mark.parametrize("model", ["tiny_pixart_folder", "tiny_sdxl_folder"])
def test_the_kernels_make_the_image(request_for, stand_in, request, model):
    wanted, library, events = request_for(request.getfixturevalue(model), quantization="int8"), stand_in(), []
    plain, result = run(None, wanted), run(library, wanted, events)
    assert (plain.products, result.products) == ("torch", "kernels")
    assert len(library.multiplied) > SELF_TEST
    assert result.product_calls == len(library.multiplied) - SELF_TEST
    assert result.product_schemes == {"int8": result.product_calls} and plain.product_schemes == {}
    included = sum(bool(each.residual or each.activation) for each in library.multiplied[SELF_TEST:])
    assert result.product_calls >= result.fused_product_calls >= included
    assert any(each.activation for each in library.multiplied[SELF_TEST:]) == ("sdxl" in model)  # GEGLU
    assert all(fallback.calls for fallback in result.product_fallbacks)
    assert np.abs(pixels(result) - pixels(plain)).mean() < 4


@pytest.mark.slow
def test_a_launch_that_fails_is_told_and_recorded(request_for, stand_in, tiny_sdxl_folder):
    wanted, events = request_for(tiny_sdxl_folder, quantization="int8"), []
    result = run(stand_in("launch", after=SELF_TEST), wanted, events)
    assert result.products == "torch"
    assert result.product_fallbacks[-1] == KernelFallback(reason="the launch failed", calls=1)
    assert "products_fell_back" in [event.code for event in events if isinstance(event, Notice)]
    assert result.images[0].sha256 == run(None, wanted).images[0].sha256


def test_what_is_not_quantized_needs_no_kernels(request_for, stand_in, tiny_sdxl_folder):
    library = stand_in()
    result = run(library, request_for(tiny_sdxl_folder))
    assert (result.products, result.product_fallbacks, library.multiplied) == (None, (), [])


KINDS = {
    "int4-lowrank": lambda a: a.weight_bits == 4 and a.group_scales and not a.codebook,
    "int4-codebook": lambda a: a.codebook,
    "int4-rot": lambda a: a.x_bits == 4 and a.x_scales,
    "svdquant": lambda a: a.x_bits == 4 and a.weight_group_scales,
    "fp8": lambda a: a.floats,
}


@pytest.fixture(scope="module")
def wide_folder(tmp_path_factory):
    """A PixArt model whose layers have room for low-rank branches."""
    return write_tiny_pixart(tmp_path_factory.mktemp("models") / "wide-pixart", heads=24)


@pytest.mark.parametrize("scheme", KINDS)
def test_each_scheme_has_its_kernels(request_for, stand_in, wide_folder, scheme):
    library = stand_in()
    result = run(library, request_for(wide_folder, quantization=scheme))
    calls = library.multiplied[SELF_TEST:]
    assert result.products == "kernels" and result.product_calls == len(calls)
    kernels_of_scheme = sum(bool(KINDS[scheme](each)) for each in calls)
    assert result.product_schemes[scheme] == kernels_of_scheme > len(calls) / 2
    assert sum(result.product_schemes.values()) == len(calls)


def test_block_scaled_products_are_counted(request_for, every_device, tmp_path):
    model = write_tiny_pixart(tmp_path / "pixart", heads=16)  # 128 columns, as their kernels need
    library = (FakeBlackwell if every_device == "cpu" else CardBlackwell)()
    result = run(library, request_for(model, quantization="nvfp4"))
    calls = library.block_scaled[len(BLOCK_SCALED) :]
    assert (result.products, result.product_fallbacks) == ("kernels", ())
    assert {each.format for each in calls} == {BlockFormat.NVFP4}
    assert result.product_schemes == {"nvfp4": result.product_calls} and result.product_calls == len(calls) > 0
