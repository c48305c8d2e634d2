"""GroupNorm's kernels on a real card: parity, graphs, and the same bits every time."""

import pytest
import torch

from mezzotint.dispatch.library import Unavailable, open_installed
from mezzotint.normalization.compiled import CompiledGroupNorm
from mezzotint.normalization.reference import group_norm_reference
from mezzotint.normalization.self_test import run_group_norm_self_test

pytestmark = pytest.mark.gpu

SHAPES = {
    "SDXL, 128x128": (2, 320, 128, 128),
    "SDXL, 32x32": (2, 2560, 32, 32),
    "autoencoder, 1024x1024": (1, 128, 1024, 1024),
    "one pixel": (1, 64, 1, 1),
    "ragged": (3, 96, 13, 17),
}
BOTH = pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=["f16", "bf16"])


@pytest.fixture(scope="module")
def kernels():
    try:
        return CompiledGroupNorm(open_installed())
    except Unavailable as error:
        pytest.skip(str(error))


def tensors(shape, dtype):
    generator = torch.Generator("cuda").manual_seed(shape[1])
    x = torch.randn(shape, device="cuda", generator=generator) * 2 + 1
    weight, bias = torch.randn(2, shape[1], device="cuda", generator=generator).to(dtype).unbind()
    return x.to(dtype).contiguous(memory_format=torch.channels_last), weight, bias.clone()


@BOTH
@pytest.mark.parametrize("silu", [True, False])
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES.keys())
def test_parity(kernels, shape, silu, dtype):
    x, weight, bias = tensors(shape, dtype)
    out = kernels(x, 32, weight, bias, 1e-5, silu=silu).double()
    exact = group_norm_reference(x, 32, weight, bias, 1e-5, silu=silu)
    assert float((out - exact).norm()) <= torch.finfo(dtype).eps / 2 * float(exact.norm())


@BOTH
def test_the_self_test_passes(kernels, dtype):
    assert run_group_norm_self_test(kernels, torch.device("cuda"), dtype).problem is None


@BOTH
def test_the_same_bits_every_time_and_in_a_graph(kernels, dtype):
    x, weight, bias = tensors(SHAPES["SDXL, 128x128"], dtype)
    first = kernels(x, 32, weight, bias, 1e-5, silu=True)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        again = kernels(x, 32, weight, bias, 1e-5, silu=True)
    for _ in range(5):
        graph.replay()
        torch.cuda.synchronize()
        assert torch.equal(again, first)
