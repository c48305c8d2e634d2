"""The backward kernels on a real card: parity, masks, groups, graphs, and the same bits every time."""

from dataclasses import replace

import pytest
import torch

from mezzotint.attention.blocks.building import build_table
from mezzotint.attention.blocks.patterns import bigbird_table, local_table
from mezzotint.attention.compiled_backward import Attended, CompiledBackward
from mezzotint.attention.masks import NO_MASKS, Masks
from mezzotint.attention.reference import attention_gradients, attention_reference
from mezzotint.attention.self_test import run_backward_self_test
from mezzotint.dispatch.library import Unavailable, Unsupported, open_installed

pytestmark = pytest.mark.gpu

# batch, heads, kv_heads, nq, nk, head_dim
SHAPES = {
    **{f"d{head_dim}": (1, 2, 2, 300, 333, head_dim) for head_dim in (32, 40, 64, 72, 80, 88, 96, 112, 128, 160)},
    **{f"d{head_dim}": (1, 1, 1, 300, 333, head_dim) for head_dim in (256, 384, 512)},
    "many": (1, 4, 4, 2048, 2048, 64),
    "grouped": (2, 6, 2, 257, 515, 128),
    "few keys": (2, 4, 4, 1024, 77, 64),
    "one of each": (1, 1, 1, 1, 1, 64),
}
MASKS = ["none", "causal", "lengths", "key mask"]


@pytest.fixture(scope="module")
def kernels():
    try:
        return CompiledBackward(open_installed())
    except Unavailable as error:
        pytest.skip(str(error))


def problem(shape, dtype, kind="none"):
    batch, heads, kv_heads, nq, nk, head_dim = shape
    generator = torch.Generator("cuda").manual_seed(nk)

    def draw(heads, tokens):
        size = (batch, tokens, heads, head_dim)
        return torch.randn(size, device="cuda", generator=generator).to(dtype).transpose(1, 2)

    q, k, v, gradient = draw(heads, nq), draw(kv_heads, nk), draw(kv_heads, nk), draw(heads, nq)
    lengths = torch.tensor([nk * each // batch for each in range(batch)], dtype=torch.int32, device="cuda")
    key_mask = torch.rand(batch, nk, device="cuda", generator=generator) < 0.6
    masks = {"none": NO_MASKS, "causal": Masks(causal=True), "lengths": Masks(key_lengths=lengths)}
    return attended(q, k, v, masks.get(kind, Masks(key_mask=key_mask))), gradient


def attended(q, k, v, masks):
    scale = q.shape[3] ** -0.5
    out, lse = attention_reference(q, k, v, masks, scale)
    return Attended(q=q, k=k, v=v, masks=masks, scale=scale, out=out, lse=lse)


def exactly(of, gradient):
    """In float64."""
    gradient, q, k, v = (each.double() for each in (gradient, of.q, of.k, of.v))
    return attention_gradients(gradient, None, q, k, v, of.masks, of.scale)[:3]


def called(kernels, of, gradient):
    try:
        return kernels(of, gradient, None)
    except Unsupported as error:
        pytest.skip(str(error))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=["f16", "bf16"])
@pytest.mark.parametrize("kind", MASKS)
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES.keys())
def test_gradients_are_those_of_the_reference(kernels, shape, kind, dtype):
    of, gradient = problem(shape, dtype, kind)
    found = called(kernels, of, gradient)
    for ours, exact in zip(found, exactly(of, gradient), strict=True):
        assert ours.isfinite().all()
        rms = float((ours.double() - exact).norm()) / max(float(exact.norm()), 1e-6)
        assert rms <= 2 * torch.finfo(dtype).eps


def by_head(nq, nk, heads):
    shown = torch.rand(1, heads, -(-nq // 64), -(-nk // 64), generator=torch.Generator().manual_seed(0)) < 0.4
    return build_table(shown, nq, nk, lambda i, j: (i + j) % 5 > 0)


TABLES = {
    "local": ((2, 4, 2, 700, 700, 64), local_table(700, 90)),
    "bigbird": ((1, 4, 4, 1000, 1000, 128), bigbird_table(1000, 1, random_blocks=2)),
    "by head": ((2, 4, 2, 300, 500, 72), by_head(300, 500, 4)),
    "wide heads": ((1, 2, 2, 200, 300, 512), by_head(200, 300, 2)),
}


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=["f16", "bf16"])
@pytest.mark.parametrize("name", TABLES)
def test_gradients_by_a_table(kernels, name, dtype):
    shape, table = TABLES[name]
    of, gradient = problem(shape, dtype)
    seen = table.seen().cuda()
    bias = torch.zeros_like(seen, dtype=torch.float64).masked_fill(~seen, -torch.inf)
    shown = attended(of.q, of.k, of.v, Masks(bias=bias.float()))
    found = called(kernels, replace(shown, masks=NO_MASKS, table=table.to("cuda")), gradient)
    again = kernels(replace(shown, masks=NO_MASKS, table=table.to("cuda")), gradient, None)
    exact = exactly(replace(shown, masks=Masks(bias=bias)), gradient)
    for ours, other, right in zip(found, again, exact, strict=True):
        assert torch.equal(ours, other)
        assert float((ours.double() - right).norm()) <= 2 * torch.finfo(dtype).eps * float(right.norm())
    assert not found[0][~seen.any(-1).expand(shape[:2] + shape[3:4])].any()


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=["f16", "bf16"])
def test_the_self_test_passes(kernels, dtype):
    assert run_backward_self_test(kernels, torch.device("cuda"), dtype).problem is None


def test_the_same_call_gives_the_same_bits(kernels):
    of, gradient = problem(SHAPES["many"], torch.float16)
    first = called(kernels, of, gradient)
    for _ in range(20):
        assert all(torch.equal(one, other) for one, other in zip(first, kernels(of, gradient, None), strict=True))


def test_it_can_be_captured_and_replayed(kernels):
    of, gradient = problem(SHAPES["many"], torch.float16)
    expected = called(kernels, of, gradient)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        found = kernels(of, gradient, None)
    graph.replay()
    assert all(torch.equal(one, other) for one, other in zip(expected, found, strict=True))
