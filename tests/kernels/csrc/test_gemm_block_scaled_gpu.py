"""Block-scaled products on a real card: each scale at its place, parity at the sizes of models, the same bits."""

from dataclasses import replace

import pytest
import torch

from mezzotint.dispatch.library import open_installed
from mezzotint.quantization.block_floats import Mxfp8, Nvfp4, rounded_rows
from mezzotint.quantization.linear import linear
from mezzotint.quantization.products.block_scaled import BlockScaledLinear
from mezzotint.quantization.products.self_test import BLOCK_SCALED, run_self_test
from mezzotint.quantization.random_weights import random_quantized_weight

pytestmark = pytest.mark.gpu

DEVICE = torch.device("cuda")
FORMATS = pytest.mark.parametrize("format_", [Mxfp8(), Nvfp4()], ids=lambda each: each.scheme)
SHAPES = {"sdxl": (4096, 640, 5120), "flux": (4608, 3072, 3072), "text": (77, 2048, 1280), "one row": (1, 3072, 3072)}


@pytest.fixture
def kernels():
    if torch.cuda.get_device_capability()[0] != 12:
        pytest.skip("needs a CUDA device that multiplies block-scaled numbers")
    return BlockScaledLinear(open_installed())


def drawn(format_, columns, depth):
    weight = random_quantized_weight(format_, (columns, depth), torch.Generator().manual_seed(5))
    return replace(weight, tensors={name: each.to(DEVICE) for name, each in weight.tensors.items()})


@FORMATS
def test_every_scale_is_applied_where_it_belongs(kernels, format_):
    """Rows of the identity let the weight's columns come out, as they are: a lane with another's scale shows."""
    weight = drawn(format_, 264, 256)
    out = kernels(torch.eye(256, device=DEVICE, dtype=torch.bfloat16), weight)
    assert torch.allclose(out.float(), weight.dequantized(torch.float32).T, rtol=2**-7, atol=0)


@FORMATS
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES.keys())
def test_parity(kernels, format_, shape):
    rows, depth, columns = shape
    x, weight = torch.randn(rows, depth, device=DEVICE).half(), drawn(format_, columns, depth)
    out = kernels(x, weight)
    wanted = linear(rounded_rows(format_, x.float()), weight)
    assert float((out.float() - wanted).norm() / wanted.norm()) < 1e-3
    assert torch.equal(kernels(x, weight), out)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_self_test(kernels, dtype):
    assert run_self_test(kernels, DEVICE, dtype, BLOCK_SCALED).problem is None
