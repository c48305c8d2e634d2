"""Our attention end to end: on a card by the installed library, and always by one that is stood in for."""

import pytest
import torch
from fake_kernels import FakeKernels

from mezzotint.attention.compiled import CompiledAttention
from mezzotint.attention.masks import Masks, causal_mask, visible_keys
from mezzotint.attention.reference import attention_reference
from mezzotint.attention.self_test import run_self_test
from mezzotint.dispatch.library import Unavailable, open_installed

SHAPES = [  # batch, heads, heads of keys, queries, keys, head size
    (2, 3, 3, 128, 128, 64),
    (1, 2, 2, 113, 203, 64),
    (2, 4, 2, 65, 77, 64),
    (1, 2, 2, 239, 1, 128),
    (2, 2, 2, 96, 300, 72),
    (1, 2, 1, 257, 333, 88),
    (1, 1, 1, 130, 190, 512),
    (1, 3, 3, 100, 100, 40),
]
MASKS = ["none", "lengths", "key mask", "bias", "causal", "everything"]


@pytest.fixture(params=["stand-in", pytest.param("card", marks=pytest.mark.gpu)])
def place(request):
    """A function of tensors, and the device for them."""
    if request.param == "stand-in":
        return CompiledAttention(FakeKernels()), torch.device("cpu")
    try:
        return CompiledAttention(open_installed()), torch.device("cuda")
    except Unavailable as error:
        pytest.skip(str(error))


def draw(generator, device, dtype, batch, tokens, heads, head_dim):
    whole = torch.randn(batch, tokens, heads, head_dim, generator=generator)
    return whole.to(device, dtype).transpose(1, 2)


def masks_of(kind, shape, generator, device):
    batch, heads, _, nq, nk, _ = shape
    every = kind == "everything"
    bias = torch.randn(1, heads, nq, nk, generator=generator).to(device)
    key_mask = (torch.rand(batch, nk, generator=generator) < 0.7).to(device)
    lengths = torch.randint(nk + 1, (batch,), generator=generator).int().to(device)
    return Masks(
        bias=bias if kind == "bias" or every else None,
        key_mask=key_mask if kind == "key mask" or every else None,
        key_lengths=lengths if kind == "lengths" or every else None,
        causal=kind == "causal" or every,
    )


def near(found, exact, short):
    """The rule of FlashAttention's tests: at most twice as far off as plain torch in the same format, and rounding."""
    rounding = 2 * ((exact.float() + 0.3 - 0.3) - exact).abs().max() + torch.finfo(found.dtype).eps
    allowed = 2 * (short.double() - exact).abs().max() + rounding
    return bool((found.double() - exact).abs().max() <= allowed)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("kind", MASKS)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_it_is_as_exact_as_the_format_allows(place, shape, kind, dtype):
    attend, device = place
    batch, heads, kv_heads, nq, nk, head_dim = shape
    generator = torch.Generator().manual_seed(nq)
    q = draw(generator, device, dtype, batch, nq, heads, head_dim)
    k, v = (draw(generator, device, dtype, batch, nk, kv_heads, head_dim) for _ in range(2))
    masks = masks_of(kind, shape, generator, device)
    out, lse = attend(q, k, v, masks, with_lse=True)
    exact, sums = attention_reference(q.double(), k.double(), v.double(), masks)
    assert near(out, exact, plainly(q, k, v, masks))
    torch.testing.assert_close(lse, sums.float(), rtol=1e-3, atol=1e-3)


def plainly(q, k, v, masks):
    """In the tensors' own format, every step rounded."""
    groups = q.shape[1] // k.shape[1]
    k, v = (each.repeat_interleave(groups, dim=1) for each in (k, v))
    scores = (q @ k.mT) * q.shape[3] ** -0.5
    if masks.bias is not None:
        scores = scores + masks.bias.to(q.dtype)
    seen = visible_keys(masks, k.shape[2])
    if seen is not None:
        scores = scores.masked_fill(~seen, -torch.inf)
    if masks.causal:
        scores = scores.masked_fill(~causal_mask(q.shape[2], k.shape[2], q.device), -torch.inf)
    return torch.softmax(scores, dim=-1).nan_to_num() @ v


def test_the_self_test_passes(place):
    attend, device = place
    for int8 in (False, True):
        assert run_self_test(attend, device, torch.float16, int8=int8).problem is None


def test_the_same_call_gives_the_same_bits(place):
    attend, device = place
    generator = torch.Generator().manual_seed(0)
    q, k, v = (draw(generator, device, torch.float16, 2, 200, 4, 64) for _ in range(3))
    first = attend(q, k, v)[0]
    assert all(torch.equal(attend(q, k, v)[0], first) for _ in range(20))


# ---- on a card alone


@pytest.fixture
def card():
    try:
        return CompiledAttention(open_installed())
    except Unavailable as error:
        pytest.skip(str(error))


def on_card(*size, dtype=torch.float16):
    return torch.randn(size, device="cuda", dtype=dtype).transpose(1, 2)


@pytest.mark.gpu
def test_it_can_be_captured_and_replayed(card):
    q, k, v = (on_card(1, 300, 4, 64) for _ in range(3))
    card(q, k, v, int8=True)
    card(q, k, v)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        outs = [card(q, k, v)[0], card(q, k, v, int8=True)[0]]
    q.copy_(on_card(1, 300, 4, 64))
    graph.replay()
    assert torch.equal(outs[0], card(q, k, v)[0])
    assert torch.equal(outs[1], card(q, k, v, int8=True)[0])


@pytest.mark.gpu
def test_it_runs_on_the_stream_that_is_current(card):
    q = on_card(1, 2048, 8, 64)
    expected = card(q, q, q)[0]
    torch.cuda.synchronize()
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        late = torch.zeros_like(q)
        torch.cuda._sleep(20_000_000)
        late.copy_(q)
        out = card(late, late, late)[0]
    stream.synchronize()
    assert torch.equal(out, expected)


@pytest.mark.gpu
def test_offsets_beyond_31_bits(card):
    """The last batch lies more than 2^31 elements from the first."""
    tokens, heads, head_dim = 64, 1, 64
    step = 2**31 // 2 + 8
    whole = torch.zeros(3 * step, device="cuda", dtype=torch.float16)
    q = whole.as_strided((3, heads, tokens, head_dim), (step, tokens * head_dim, head_dim, 1))
    q.copy_(torch.randn(q.shape, dtype=q.dtype))
    torch.testing.assert_close(card(q, q, q)[0], attention_reference(q, q, q)[0], rtol=0.01, atol=0.01)


@pytest.mark.gpu
def test_keys_that_are_hidden_have_no_part(card):
    q, k, v = (on_card(2, 100, 2, 64) for _ in range(3))
    masks = Masks(key_lengths=torch.tensor([60, 100], dtype=torch.int32, device="cuda"))
    expected = card(q, k, v, masks)[0]
    k[0, :, 60:], v[0, :, 60:] = 1e4, 1e4
    assert torch.equal(card(q, k, v, masks)[0], expected)
