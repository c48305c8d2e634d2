"""Tensors into the library's argument structure, seen from the other side by a stand-in that reads it."""

import math

import pytest
import torch
from attention_questions import questions
from fake_kernels import WORKSPACE, FakeKernels
from hypothesis import given

from mezzotint.attention import compiled
from mezzotint.attention.compiled import CompiledAttention
from mezzotint.attention.layout import output_strides
from mezzotint.attention.masks import NO_MASKS, Masks
from mezzotint.attention.reference import attention_reference
from mezzotint.dispatch.library import LaunchFailed, Unsupported

BF16 = torch.bfloat16


@pytest.fixture
def kernels():
    return FakeKernels()


def tokens_first(*size, dtype=BF16):
    batch, heads, tokens, head_dim = size
    return torch.randn(batch, tokens, heads, head_dim).to(dtype).transpose(1, 2)


@given(questions(dtypes=(torch.float16, BF16), head_dims=(8, 16), aligned=True))
def test_every_layout_and_mask_reaches_the_library_as_it_is(question):
    kernels = FakeKernels()
    out, lse = CompiledAttention(kernels)(*question, with_lse=True)
    exact, sums = attention_reference(*question)
    assert torch.equal(out, exact)
    torch.testing.assert_close(lse, sums)
    assert out.stride() == output_strides(question[0])
    assert len(kernels.launches) == 1


def test_nothing_is_copied(kernels):
    """Slices of one projection, expanded keys, a mask that is the same for all: addresses are those of the tensors."""
    fused = torch.randn(2, 5, 3, 4, 16).to(BF16)
    q, k, v = (fused[:, :, i].transpose(1, 2) for i in range(3))
    bias, key_mask = torch.randn(2, 1, 1, 5), torch.ones(1, 5, dtype=torch.bool)
    masks = Masks(bias=bias.expand(2, 4, 5, 5), key_mask=key_mask.expand(2, 5))
    CompiledAttention(kernels)(q, k, v, masks)
    (asked,) = kernels.launches
    assert [asked.q, asked.k, asked.v] == [each.data_ptr() for each in (q, k, v)]
    assert list(asked.q_stride) == [5 * 3 * 64, 16, 3 * 64]
    assert (asked.bias, list(asked.bias_stride)) == (bias.data_ptr(), [5, 0, 0, 1])
    assert (asked.key_mask, asked.key_mask_stride) == (key_mask.data_ptr(), 0)
    assert (asked.lse, asked.key_lengths) == (None, None)


def test_the_options_reach_the_library(kernels):
    attend, q = CompiledAttention(kernels), tokens_first(1, 2, 4, 16)
    attend(q, q, q)
    attend(q, q, q, Masks(causal=True), 0.25, int8=True)
    plain, other = kernels.launches
    assert (plain.flags, plain.dtype) == (0, 1)
    assert plain.scale == pytest.approx(1 / 4)
    assert (other.flags, other.scale) == (3, 0.25)
    attend(q.half(), q.half(), q.half())
    assert kernels.launches[2].dtype == 0


def test_one_kind_is_planned_once_and_each_call_has_its_own_memory(kernels):
    attend = CompiledAttention(kernels)
    questions = [tokens_first(1, 2, 4, 16) for _ in range(3)]
    outs = [attend(q, q, q)[0] for q in questions]
    assert (len(kernels.plans), len(kernels.launches)) == (1, 3)
    for q, out in zip(questions, outs, strict=True):
        assert torch.equal(out, attention_reference(q, q, q)[0])
    attend(tokens_first(1, 2, 5, 16), questions[0], questions[0])
    assert len(kernels.plans) == 2


def test_kinds_are_not_remembered_without_end(kernels, monkeypatch):
    monkeypatch.setattr(compiled, "_MOST_KINDS", 3)
    attend = CompiledAttention(kernels)
    for tokens in (1, 2, 3, 4, 1):
        q = tokens_first(1, 1, tokens, 16)
        attend(q, q, q)
    assert len(kernels.plans) == 5


def test_what_there_is_no_kernel_for_is_asked_once(kernels):
    attend = CompiledAttention(FakeKernels(head_sizes={64}))
    q = tokens_first(1, 1, 3, 16)
    for _ in range(2):
        with pytest.raises(Unsupported, match="head_dim 16"):
            attend(q, q, q)


@pytest.mark.parametrize(
    ("tensors", "masks", "message"),
    [
        ([torch.zeros(1, 1, 3, 8)] * 3, NO_MASKS, "q is torch.float32"),
        ([torch.zeros(1, 1, 3, 16, dtype=BF16)[..., ::2]] * 3, NO_MASKS, r"q has strides \(48, 48, 16, 2\)"),
        ([torch.zeros(1, 1, 3, 12, dtype=BF16)[..., :8]] * 3, NO_MASKS, "multiples of 8"),
        ([torch.zeros(8 * 3 + 8, dtype=BF16)[4:28].view(1, 1, 3, 8)] * 3, NO_MASKS, "misaligned by 8 bytes"),
        (
            [torch.zeros(1, 1, 3, 8, dtype=BF16)] * 3,
            Masks(key_mask=torch.ones(1, 6, dtype=torch.bool)[:, ::2]),
            r"key_mask has strides \(6, 2\)",
        ),
        (
            [torch.zeros(2, 1, 3, 8, dtype=BF16)] * 3,
            Masks(key_lengths=torch.ones(4).int()[::2]),
            "key_lengths has a stride of 2",
        ),
        ([torch.zeros(1, 1, 3, 8, dtype=BF16, requires_grad=True)] * 3, NO_MASKS, "gradients"),
    ],
)
def test_what_the_kernels_cannot_read_is_left_to_others(kernels, tensors, masks, message):
    q, k, v = tensors
    with pytest.raises(Unsupported, match=message):
        CompiledAttention(kernels)(q, k, v, masks)
    assert not kernels.launches


def test_another_device_is_left_to_others(kernels):
    attend = CompiledAttention(kernels)
    attend.device_type = "cuda"
    q = tokens_first(1, 1, 3, 8)
    with pytest.raises(Unsupported, match="q is on cpu; the kernels run on cuda"):
        attend(q, q, q)


def test_mistakes_are_told_with_argument_and_value(kernels):
    attend, q = CompiledAttention(kernels), tokens_first(1, 2, 4, 16)
    with pytest.raises(TypeError, match=r"k is torch\.float16 and q is torch\.bfloat16"):
        attend(q, q.half(), q)
    with pytest.raises(ValueError, match=r"key_lengths has shape \(2,\)"):
        attend(q, q, q, Masks(key_lengths=torch.ones(2).int()))
    with pytest.raises(ValueError, match="scale is nan"):
        attend(q, q, q, scale=float("nan"))


def test_without_queries_or_keys_nothing_is_launched(kernels):
    attend, q = CompiledAttention(kernels), tokens_first(1, 2, 4, 16)
    none = q[:, :, :0]
    assert attend(none, q, q)[0].shape == (1, 2, 0, 16)
    out, lse = attend(q, none, none, with_lse=True)
    assert not out.any() and (lse == -math.inf).all()
    assert attend(q[:0], q[:0], q[:0])[0].shape == (0, 2, 4, 16)
    assert not kernels.launches


def test_the_workspace_is_of_torch_s_allocator(kernels, monkeypatch):
    given_out = []
    real = torch.empty

    def empty(*size, **options):
        given_out.append(real(*size, **options))
        return given_out[-1]

    monkeypatch.setattr(torch, "empty", empty)
    q = tokens_first(1, 2, 4, 16)
    CompiledAttention(kernels)(q, q, q)
    (asked,) = kernels.launches
    assert (asked.workspace, asked.workspace_bytes) == (given_out[-1].data_ptr(), WORKSPACE)
    assert (given_out[-1].device, given_out[-1].dtype) == (q.device, torch.uint8)


def test_the_kernel_has_a_name(kernels):
    attend, q = CompiledAttention(kernels), tokens_first(1, 2, 4, 16)
    assert attend.kernel_name(q, q, q, int8=True) == "fake"
    assert attend.kernel_name(q, q[:, :, :0], q[:, :, :0]) == "none"
    with pytest.raises(Unsupported):
        attend.kernel_name(q.float(), q.float(), q.float())


def test_a_failed_launch_is_told():
    q = tokens_first(1, 2, 4, 16)
    with pytest.raises(LaunchFailed, match="the launch failed"):
        CompiledAttention(FakeKernels("launch"))(q, q, q)
