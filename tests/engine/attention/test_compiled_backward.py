"""The backward kernels as a function of tensors: what they are asked, and what they refuse."""

import pytest
import torch
from attention_questions import questions
from fake_backward import FakeBackward
from hypothesis import given

from mezzotint.attention.compiled_backward import Attended, CompiledBackward
from mezzotint.attention.layout import output_strides
from mezzotint.attention.masks import NO_MASKS, Masks
from mezzotint.attention.reference import attention_gradients, attention_reference
from mezzotint.dispatch.library import Unsupported

BF16 = torch.bfloat16


def attended(q, k, v, masks=NO_MASKS, scale=None):
    scale = q.shape[-1] ** -0.5 if scale is None else scale
    out, lse = attention_reference(q, k, v, masks, scale)
    return Attended(q=q, k=k, v=v, masks=masks, scale=scale, out=out, lse=lse)


def plain(tokens=5, head_dim=8, dtype=BF16):
    return [torch.randn(1, 2, tokens, head_dim).to(dtype) for _ in range(3)]


@given(questions(dtypes=(torch.float16, BF16), head_dims=(8, 16), aligned=True))
def test_gradients_are_those_of_the_reference(question):
    q, k, v, masks, scale = question
    of = attended(q, k, v, Masks(key_mask=masks.key_mask, key_lengths=masks.key_lengths, causal=masks.causal), scale)
    gradient, of_lse = torch.randn_like(q), torch.randn(q.shape[:3])
    found = CompiledBackward(FakeBackward())(of, gradient, of_lse)
    exact = attention_gradients(gradient, of_lse, q, k, v, of.masks, of.scale)[:3]
    for ours, right, source in zip(found, exact, (q, k, v), strict=True):
        torch.testing.assert_close(ours, right)
        assert ours.stride() == output_strides(source)


def test_gradients_that_kernels_cannot_read_are_copied():
    of, kernels = attended(*plain()), CompiledBackward(FakeBackward())
    for gradient in (torch.ones(1, 1, 1, 1).expand(1, 2, 5, 8), torch.ones(1, 2, 5, 8)):
        found = kernels(of, gradient, None)
        exact = attention_gradients(gradient.to(BF16), None, of.q, of.k, of.v, NO_MASKS, of.scale)
        for ours, right in zip(found, exact[:3], strict=True):
            torch.testing.assert_close(ours, right)


def test_each_kind_of_call_is_planned_once():
    library = FakeBackward()
    kernels, of = CompiledBackward(library), attended(*plain())
    for _ in range(3):
        kernels(of, of.out, None)
    kernels(attended(*plain(tokens=6)), torch.zeros(1, 2, 6, 8, dtype=BF16), None)
    assert (len(library.plans), len(library.launches)) == (2, 4)


def test_the_cache_of_plans_is_bounded(monkeypatch):
    monkeypatch.setattr("mezzotint.attention.compiled_backward._MOST_KINDS", 1)
    library = FakeBackward()
    kernels = CompiledBackward(library)
    for tokens in (5, 6, 5):
        of = attended(*plain(tokens=tokens))
        kernels(of, of.out, None)
    assert len(library.plans) == 3


def test_without_queries_or_keys_gradients_are_zeros():
    q, k = torch.randn(1, 2, 3, 8).to(BF16), torch.randn(1, 2, 0, 8).to(BF16)
    kernels, library = CompiledBackward(FakeBackward()), FakeBackward()
    for of in (attended(q, k, k), attended(k, q, q)):
        found = kernels(of, torch.ones_like(of.q), None)
        assert [each.count_nonzero() for each in found] == [0, 0, 0]
        assert [each.shape for each in found] == [of.q.shape, of.k.shape, of.v.shape]
    assert library.launches == []


@pytest.mark.parametrize(
    ("tensors", "masks", "reason"),
    [
        (plain(dtype=torch.float32), NO_MASKS, "torch.float32"),
        (plain(), Masks(bias=torch.zeros(1, 1, 1, 5)), "there is a bias"),
        (plain(head_dim=12), NO_MASKS, "multiples of 8"),
    ],
)
def test_what_it_refuses(tensors, masks, reason):
    q, k, v = tensors
    of = attended(q, k, v, masks)
    with pytest.raises(Unsupported, match=reason):
        CompiledBackward(FakeBackward())(of, of.out, None)


def test_what_has_no_kernel_is_asked_once():
    library = FakeBackward("unsupported")
    kernels, of = CompiledBackward(library), attended(*plain())
    for _ in range(2):
        with pytest.raises(Unsupported, match="no kernel for head_dim 8"):
            kernels(of, of.out, None)
    assert len(library.plans) == 1
