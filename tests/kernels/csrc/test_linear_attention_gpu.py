"""Linear attention's kernels on a real card: parity, masks, groups, graphs, and the same bits every time."""

import pytest
import torch

from mezzotint.attention.linear.compiled import CompiledLinearAttention
from mezzotint.attention.linear.features import Efficient, Elu, PositiveRandom, RandomFourier, Relu
from mezzotint.attention.linear.operation import linear_attention, plain_linear_attention
from mezzotint.attention.linear.projections import orthogonal_projections
from mezzotint.attention.linear.self_test import run_linear_self_test
from mezzotint.attention.masks import NO_MASKS, Masks
from mezzotint.dispatch.library import Unavailable, Unsupported, open_installed

pytestmark = pytest.mark.gpu

# batch, heads, kv_heads, nq, nk, head_dim
SHAPES = {
    **{f"d{head_dim}": (1, 2, 2, 300, 333, head_dim) for head_dim in (8, 32, 40, 64, 72, 80, 96, 112, 128, 256)},
    "Sana": (2, 70, 70, 1024, 1024, 32),
    "many": (1, 4, 4, 16384, 16384, 64),
    "grouped": (2, 6, 2, 257, 515, 128),
    "few keys": (2, 4, 4, 1024, 77, 64),
    "one of each": (1, 1, 1, 1, 1, 64),
}
FEATURES = ["relu", "elu", "performer", "rfa", "efficient"]
MASKS = ["none", "lengths", "key mask"]
BOTH = pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=["f16", "bf16"])


@pytest.fixture(scope="module")
def kernels():
    try:
        return CompiledLinearAttention(open_installed())
    except Unavailable as error:
        pytest.skip(str(error))


def features_of(name, head_dim):
    projection = orthogonal_projections(1, 96, head_dim, seed=0).cuda()
    widths = torch.full((1, 1, head_dim), 0.3, device="cuda")
    made = {"relu": Relu(), "elu": Elu(), "efficient": Efficient(), "rfa": RandomFourier(projection, widths)}
    return made.get(name, PositiveRandom(projection, head_dim**-0.5))


def problem(shape, dtype, kind="none"):
    batch, heads, kv_heads, nq, nk, head_dim = shape
    generator = torch.Generator("cuda").manual_seed(nk)

    def draw(heads, tokens):
        size = (batch, tokens, heads, head_dim)
        return torch.randn(size, device="cuda", generator=generator).to(dtype).transpose(1, 2)

    q, k, v = draw(heads, nq), draw(kv_heads, nk), draw(kv_heads, nk) + 1
    lengths = torch.tensor([max(1, nk * (each + 1) // (batch + 1)) for each in range(batch)], device="cuda").int()
    key_mask = torch.rand(batch, nk, device="cuda", generator=generator) < 0.6
    masks = {"none": NO_MASKS, "lengths": Masks(key_lengths=lengths)}
    return q, k, v, masks.get(kind, Masks(key_mask=key_mask))


def called(kernels, q, k, v, features, masks):
    try:
        return kernels(q, k, v, features, masks)
    except Unsupported as error:
        pytest.skip(str(error))


@BOTH
@pytest.mark.parametrize("name", FEATURES)
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES.keys())
def test_parity(kernels, shape, name, dtype):
    features = features_of(name, shape[5])
    for kind in MASKS:
        q, k, v, masks = problem(shape, dtype, kind)
        out = called(kernels, q, k, v, features, masks).double()
        exact = plain_linear_attention(q.double(), k.double(), v.double(), features, masks)
        assert out.isfinite().all(), kind
        assert float((out - exact).norm()) <= torch.finfo(dtype).eps * max(float(exact.norm()), 1e-6), kind


@BOTH
def test_the_self_test_passes(kernels, dtype):
    test = run_linear_self_test(kernels, torch.device("cuda"), dtype)
    assert test.problem is None or test.has_no_kernels


def test_sums_beyond_float16(kernels):
    q, k, v, masks = problem(SHAPES["many"], torch.float16)
    out, exact = kernels(q, k, v * 1000, Relu(), masks), kernels(q, k, v, Relu(), masks)
    assert out.isfinite().all()
    torch.testing.assert_close(out.float() / 1000, exact.float(), rtol=2e-3, atol=2e-3)


@BOTH
def test_the_same_bits_every_time_and_in_a_graph(kernels, dtype):
    q, k, v, masks = problem(SHAPES["many"], dtype, "lengths")
    first = called(kernels, q, k, v, Elu(), masks)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        again = kernels(q, k, v, Elu(), masks)
    for _ in range(5):
        graph.replay()
        torch.cuda.synchronize()
        assert torch.equal(again, first)


def test_the_operation_uses_them(kernels):
    q, k, v, masks = problem(SHAPES["d64"], torch.float16)
    wanted = kernels(q, k, v, Relu(), masks)
    assert torch.equal(linear_attention(q, k, v, Relu(), masks), wanted)
