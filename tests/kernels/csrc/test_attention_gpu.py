"""The attention kernels on a real card: parity, masks, strides, streams, graphs, size, and the same bits every time."""

import math

import pytest
import torch
from torch.nn.functional import scaled_dot_product_attention

from mezzotint_kernels import (
    AttentionArgs,
    AttentionFlags,
    Dtype,
    KernelsUnavailable,
    attention_forward,
    attention_plan,
)

pytestmark = pytest.mark.gpu

DEVICE = "cuda"
DTYPES = {torch.float16: Dtype.FLOAT16, torch.bfloat16: Dtype.BFLOAT16, torch.float32: Dtype.FLOAT32}
BOTH = pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=["f16", "bf16"])
# batch, heads, kv_heads, nq, nk, head_dim
SHAPES = {
    "sdxl-64": (2, 10, 10, 4096, 4096, 64),
    "sdxl-32": (2, 20, 20, 1024, 1024, 64),
    "sdxl-cross": (2, 20, 20, 1024, 77, 64),
    "sd15-64": (2, 8, 8, 4096, 4096, 40),
    "sd15-32": (2, 8, 8, 1024, 1024, 80),
    "sd15-16": (2, 8, 8, 256, 256, 160),
    "pixart": (2, 16, 16, 4096, 4096, 72),
    "pixart-cross": (2, 16, 16, 4096, 300, 72),
    "sd3": (1, 24, 24, 4429, 4429, 64),
    "flux": (1, 24, 24, 4608, 4608, 128),
    "hunyuan-cross": (2, 16, 16, 4096, 333, 88),
    "sana-cross": (2, 20, 20, 1024, 300, 112),
    "lumina": (1, 24, 8, 4352, 4352, 96),
    "auraflow": (1, 12, 12, 4352, 4352, 256),
    "qwen-vae": (1, 1, 1, 4096, 4096, 384),
    "vae": (1, 1, 1, 4096, 4096, 512),
    "few-queries": (1, 24, 24, 80, 4608, 128),
    "one-key": (2, 3, 3, 129, 1, 64),
    "one-query": (2, 3, 3, 1, 1023, 128),
    "ragged": (3, 5, 5, 1023, 1025, 64),
}


def random(*shape, dtype=torch.float16, seed=0):
    generator = torch.Generator(DEVICE).manual_seed(seed)
    return torch.randn(*shape, device=DEVICE, dtype=torch.float32, generator=generator).to(dtype)


def inputs(shape, dtype, seed=0):
    batch, heads, kv_heads, nq, nk, d = shape
    sizes = ((batch, heads, nq, d), (batch, kv_heads, nk, d), (batch, kv_heads, nk, d))
    return [random(*size, dtype=dtype, seed=seed + i) for i, size in enumerate(sizes)]


def attend(
    q, k, v, *, flags=0, bias=None, key_mask=None, key_lengths=None, out=None, lse=None, workspace=None, scale=None
):
    """Our kernel on the current stream; `out` is full of NaN before, unless it is given."""
    args = AttentionArgs(dtype=DTYPES[q.dtype], flags=flags, scale=scale or 1 / math.sqrt(q.shape[-1]))
    args.batch, args.heads, args.nq, args.head_dim = q.shape
    args.kv_heads, args.nk = k.shape[1:3]
    out = torch.full_like(q, math.nan) if out is None else out
    for name, tensor in (("q", q), ("k", k), ("v", v), ("out", out)):
        assert tensor.stride(-1) == 1
        setattr(args, name, tensor.data_ptr())
        setattr(args, f"{name}_stride", tensor.stride()[:3])
    if bias is not None:
        full = bias.expand(*q.shape[:3], k.shape[2])
        args.bias, args.bias_dtype, args.bias_stride = full.data_ptr(), DTYPES[bias.dtype], full.stride()
    if key_mask is not None:
        args.key_mask, args.key_mask_stride = key_mask.data_ptr(), key_mask.stride(0)
    if key_lengths is not None:
        args.key_lengths = key_lengths.data_ptr()
    if lse is not None:
        args.lse = lse.data_ptr()
    plan = attention_plan(args, q.device.index)
    assert plan.supported, plan.text
    if plan.workspace_bytes:
        memory = (
            torch.empty(plan.workspace_bytes, dtype=torch.uint8, device=q.device) if workspace is None else workspace
        )
        args.workspace, args.workspace_bytes = memory.data_ptr(), memory.numel()
    attention_forward(args, q.device.index, torch.cuda.current_stream().cuda_stream)
    return out


def hidden_as_bias(q, k, *, bias=None, key_mask=None, key_lengths=None, causal=False):
    """All masks as one float64 bias of (batch, 1 or heads, nq, nk)."""
    batch, _, nq, _ = q.shape
    nk = k.shape[2]
    total = torch.zeros(batch, 1, nq, nk, dtype=torch.float64, device=q.device)
    if key_mask is not None:
        total.masked_fill_(~key_mask.bool()[:, None, None, :], -math.inf)
    if key_lengths is not None:
        total.masked_fill_(torch.arange(nk, device=q.device) >= key_lengths[:, None, None, None], -math.inf)
    if causal:
        seen = torch.ones(nq, nk, dtype=torch.bool, device=q.device).tril(nk - nq)
        total.masked_fill_(~seen, -math.inf)
    return total if bias is None else total + bias.double()


def plain(q, k, v, bias=None):
    """softmax(q k^T / sqrt(d) + bias) v in the precision of q, a head at a time; rows that see nothing are zeros."""
    group = q.shape[1] // k.shape[1]
    out, lse = torch.empty_like(q), torch.empty(q.shape[:3], dtype=torch.float64, device=q.device)
    for b in range(q.shape[0]):
        for h in range(q.shape[1]):
            scores = q[b, h] @ k[b, h // group].T / math.sqrt(q.shape[-1])
            if bias is not None:
                scores = scores + bias[b, min(h, bias.shape[1] - 1)].to(scores.dtype)
            out[b, h] = scores.softmax(-1).nan_to_num(0) @ v[b, h // group]
            lse[b, h] = scores.double().logsumexp(-1)
    return out, lse


def assert_close(ours, q, k, v, bias=None):
    """At most twice as far from float64 as the same product in the precision of q is; gives the reference's lse."""
    exact, lse = plain(q.double(), k.double(), v.double(), bias)
    same, _ = plain(q, k, v, bias)
    allowed = 2 * (same.double() - exact).abs().max() + 1e-5
    assert torch.isfinite(ours).all()
    assert (ours.double() - exact).abs().max() <= allowed
    return lse


@BOTH
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_real_shapes_agree_with_float64(shape, dtype):
    q, k, v = inputs(shape, dtype)
    lse = torch.full(q.shape[:3], math.nan, device=DEVICE)
    exact = assert_close(attend(q, k, v, lse=lse), q, k, v)
    assert (lse.double() - exact).abs().max() <= 2e-3


@BOTH
def test_it_agrees_with_torch_s_own(dtype):
    q, k, v = inputs(SHAPES["sdxl-32"], dtype)
    difference = (attend(q, k, v).float() - scaled_dot_product_attention(q, k, v).float()).abs().max()
    assert difference <= 4e-3 * (8 if dtype == torch.bfloat16 else 1)


@BOTH
@pytest.mark.parametrize("shape", [(2, 6, 3, 300, 300, 64), (2, 4, 4, 130, 77, 72), (2, 4, 2, 200, 333, 128)], ids=str)
@pytest.mark.parametrize("kind", ["key_lengths", "key_mask", "bias", "bias_f32", "causal", "everything"])
def test_masks(shape, kind, dtype):
    batch, heads, _, nq, nk, _ = shape
    q, k, v = inputs(shape, dtype)
    options = {}
    if kind in {"key_lengths", "everything"}:
        options["key_lengths"] = torch.tensor([nk // 3, nk], dtype=torch.int32, device=DEVICE)
    if kind in {"key_mask", "everything"}:
        options["key_mask"] = (random(batch, nk, dtype=torch.float32, seed=9) > 0).to(torch.uint8)
    if kind in {"bias", "bias_f32", "everything"}:
        options["bias"] = random(1, heads, nq, nk, dtype=torch.float32 if kind == "bias_f32" else dtype, seed=8)
    causal = kind in {"causal", "everything"}
    ours = attend(q, k, v, flags=AttentionFlags.CAUSAL if causal else 0, **options)
    assert_close(ours, q, k, v, hidden_as_bias(q, k, causal=causal, **options))


@BOTH
def test_rows_that_see_nothing_are_zeros_and_minus_infinity(dtype):
    q, k, v = inputs((2, 2, 2, 100, 200, 64), dtype)
    lse = torch.full(q.shape[:3], math.nan, device=DEVICE)
    lengths = torch.tensor([0, 200], dtype=torch.int32, device=DEVICE)
    ours = attend(q, k, v, key_lengths=lengths, lse=lse)
    assert not ours[0].any()
    assert (lse[0] == -math.inf).all()
    assert_close(ours[1:], q[1:], k[1:], v[1:])
    assert torch.isfinite(lse[1]).all()


def test_no_keys_at_all_are_zeros():
    q, k, v = inputs((2, 2, 2, 100, 0, 64), torch.float16)
    lse = torch.full(q.shape[:3], math.nan, device=DEVICE)
    assert not attend(q, k, v, lse=lse).any()
    assert (lse == -math.inf).all()


@BOTH
@pytest.mark.parametrize("nk", [77, 500])
def test_strides_are_followed_and_nothing_else_is_written(nk, dtype):
    batch, heads, nq, d = 2, 5, 300, 72
    fused = random(batch, nk, 2, heads, d, dtype=dtype)  # as a projection to keys and values leaves it
    k, v = fused.permute(2, 0, 3, 1, 4)
    q = random(batch, nq, heads, d, dtype=dtype, seed=3).transpose(1, 2)
    around = torch.full((batch, nq + 2, heads + 2, d + 8), 7.0, dtype=dtype, device=DEVICE)
    out = around[:, 1:-1, 1:-1, :d].transpose(1, 2)
    assert_close(attend(q, k, v, out=out), q, k, v)
    out.fill_(7.0)
    assert (around == 7.0).all()


def test_one_text_for_all_images_needs_no_copy():
    q, k, v = inputs((3, 4, 4, 200, 77, 64), torch.float16)
    k, v = k[:1].expand(3, -1, -1, -1), v[:1].expand(3, -1, -1, -1)
    assert_close(attend(q, k, v), q, k, v)


@BOTH
@pytest.mark.parametrize("shape", [SHAPES[name] for name in ("sdxl-32", "flux", "pixart")], ids=str)
def test_int8_scores_stay_near(shape, dtype):
    q, k, v = inputs(shape, dtype)
    k = k + 5 * random(1, k.shape[1], 1, k.shape[3], dtype=dtype, seed=7)  # a mean that must be taken away first
    ours = attend(q, k, v, flags=AttentionFlags.INT8_SCORES).double()
    exact, _ = plain(q.double(), k.double(), v.double())
    assert torch.isfinite(ours).all()
    assert (ours - exact).norm() <= 0.03 * exact.norm()


@pytest.mark.parametrize(
    ("name", "flags"),
    [
        *((name, 0) for name in ("sdxl-32", "sdxl-cross", "pixart", "flux", "vae")),
        *((name, AttentionFlags.INT8_SCORES) for name in ("sdxl-32", "pixart", "flux")),
    ],
)
def test_the_same_bits_every_time(name, flags):
    q, k, v = inputs(SHAPES[name], torch.bfloat16)
    first = attend(q, k, v, flags=flags)
    for _ in range(100):
        assert torch.equal(attend(q, k, v, flags=flags), first)


@pytest.mark.parametrize("flags", [0, AttentionFlags.INT8_SCORES], ids=["plain", "int8"])
def test_a_graph_replays_it_on_new_contents(flags):
    q, k, v = inputs(SHAPES["sdxl-32"], torch.float16)
    out, memory = torch.empty_like(q), torch.empty(1 << 28, dtype=torch.uint8, device=DEVICE)
    attend(q, k, v, flags=flags, out=out, workspace=memory)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        attend(q, k, v, flags=flags, out=out, workspace=memory)
    for tensor, new in zip((q, k, v), inputs(SHAPES["sdxl-32"], torch.float16, seed=20), strict=True):
        tensor.copy_(new)
    out.fill_(math.nan)
    graph.replay()
    torch.cuda.synchronize()
    assert torch.equal(out, attend(q, k, v, flags=flags))


def test_two_streams_run_beside_each_other():
    work = [inputs(SHAPES["sdxl-32"], torch.float16, seed=seed) for seed in (0, 10)]
    wanted = [attend(*each) for each in work]
    torch.cuda.synchronize()
    streams = [torch.cuda.Stream() for _ in work]
    found = [[], []]
    for _ in range(20):
        for index, stream in enumerate(streams):
            with torch.cuda.stream(stream):
                found[index].append(attend(*work[index]))
    torch.cuda.synchronize()
    for index, want in enumerate(wanted):
        assert all(torch.equal(each, want) for each in found[index])


def free_bytes():
    return torch.cuda.mem_get_info()[0]


def test_more_than_two_to_the_31_elements():
    nq, d = 2**25 + 5, 64
    if free_bytes() < 14 * 2**30:
        pytest.skip("needs 14 GB of free GPU memory")
    q = torch.zeros(1, 1, nq, d, dtype=torch.float16, device=DEVICE)
    q[:, :, -300:] = random(1, 1, 300, d)
    k, v = random(1, 1, 77, d, seed=1), random(1, 1, 77, d, seed=2)
    ours = attend(q, k, v)
    assert_close(ours[:, :, -300:], q[:, :, -300:], k, v)
    assert (ours[:, :, :1000] == ours[0, 0, 0]).all()  # of zeros, the mean of v everywhere


def test_strides_beyond_two_to_the_31_elements():
    tokens, d, stride = 300, 64, 2**23
    if free_bytes() < 14 * 2**30:
        pytest.skip("needs 14 GB of free GPU memory")
    wide = torch.zeros(tokens, stride, dtype=torch.float16, device=DEVICE)
    for part in range(2):
        wide[:, part * d : part * d + d] = random(tokens, d, seed=part)
    k, v = wide[None, None, :, :d], wide[None, None, :, d : 2 * d]
    q = random(1, 1, 200, d, seed=5)
    assert_close(attend(q, k, v), q, k, v)


def test_a_card_that_was_never_asked_about_is_an_error_and_no_crash():
    args = AttentionArgs(batch=1, heads=1, kv_heads=1, nq=1, nk=1, head_dim=64, scale=1.0)
    with pytest.raises(KernelsUnavailable, match=f"device is 99, and there are {torch.cuda.device_count()}"):
        attention_plan(args, 99)
