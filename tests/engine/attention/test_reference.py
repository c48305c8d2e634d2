"""The reference is the formula, and SDPA agrees with it."""

import math

import pytest
import torch
from attention_questions import questions
from hypothesis import given

from mezzotint.attention.masks import NO_MASKS, Masks
from mezzotint.attention.reference import attention_reference
from mezzotint.attention.sdpa import attention_sdpa


def by_hand(q, k, v, masks, scale):
    """Query by query in Python's own numbers."""
    batch, heads, nq, d = q.shape
    nk, group = k.shape[2], heads // k.shape[1]
    out, lse = torch.zeros(batch, heads, nq, d, dtype=torch.float64), torch.full((batch, heads, nq), -math.inf)
    whole = None if masks.bias is None else masks.bias.expand(batch, heads, nq, nk)
    for b, h, i in torch.cartesian_prod(*map(torch.arange, (batch, heads, nq))).tolist():
        seen = [j for j in range(nk) if sees(masks, b, i, j, nq, nk)]
        scores = [
            float(q[b, h, i].double() @ k[b, h // group, j].double()) * (scale or d**-0.5)
            + (0.0 if whole is None else float(whole[b, h, i, j]))
            for j in seen
        ]
        total = sum(map(math.exp, scores))
        for j, score in zip(seen, scores, strict=True):
            out[b, h, i] += math.exp(score) / total * v[b, h // group, j].double()
        if seen:
            lse[b, h, i] = math.log(total)
    return out, lse


def sees(masks, b, i, j, nq, nk):
    by_mask = masks.key_mask is None or bool(masks.key_mask.expand(max(b + 1, len(masks.key_mask)), nk)[b, j])
    by_length = masks.key_lengths is None or j < int(masks.key_lengths[b])
    return by_mask and by_length and (not masks.causal or j <= i + nk - nq)


@given(questions())
def test_the_reference_is_the_formula(question):
    out, lse = attention_reference(*question)
    exact, sums = by_hand(*question)
    torch.testing.assert_close(out.double(), exact, rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(lse, sums.to(lse.dtype), rtol=1e-4, atol=1e-5)


@given(questions())
def test_sdpa_is_the_formula(question):
    torch.testing.assert_close(attention_sdpa(*question), attention_reference(*question)[0], rtol=1e-4, atol=1e-5)


@given(questions(dtypes=(torch.float16, torch.bfloat16)))
def test_in_sixteen_bits_both_are_near_the_formula_in_64(question):
    """The rule of FlashAttention's tests: at most twice as far off as plain torch in the same format, and rounding."""
    q, k, v, masks, scale = question
    wide = Masks(
        bias=None if masks.bias is None else masks.bias.double(),
        key_mask=masks.key_mask,
        key_lengths=masks.key_lengths,
        causal=masks.causal,
    )
    exact = attention_reference(q.double(), k.double(), v.double(), wide, scale)[0]
    step = torch.finfo(q.dtype).eps * (1 + float(v.abs().max()))
    assert (attention_reference(*question)[0].double() - exact).abs().max() <= step
    assert (attention_sdpa(*question).double() - exact).abs().max() <= 4 * step


@pytest.mark.parametrize("attend", [attention_sdpa, lambda *what: attention_reference(*what)[0]])
def test_a_query_that_sees_no_key_gets_nothing(attend):
    q, k = torch.randn(2, 1, 3, 8), torch.randn(2, 1, 4, 8)
    for masks in (
        Masks(key_lengths=torch.tensor([0, 4]).int()),
        Masks(key_mask=torch.tensor([[False], [True]]).expand(2, 4)),
    ):
        out = attend(q, k, k, masks)
        assert not out[0].any() and out[1].any()
    assert not attend(q, k[:, :, :1], k[:, :, :1], Masks(causal=True))[:, :, :2].any()
    assert not attend(q, k[:, :, :0], k[:, :, :0], NO_MASKS).any()


def test_the_sum_over_no_key_is_minus_infinity():
    q, k = torch.randn(1, 1, 2, 8), torch.randn(1, 1, 3, 8)
    assert (attention_reference(q, k[:, :, :0], k[:, :, :0])[1] == -math.inf).all()
    lengths = Masks(key_lengths=torch.zeros(1).int())
    assert (attention_reference(q, k, k, lengths)[1] == -math.inf).all()


def test_large_scores_do_not_overflow():
    q = torch.full((1, 1, 2, 8), 1e3)
    k = torch.stack([torch.full((8,), 1e3), torch.full((8,), -1e3)])[None, None]
    v = torch.tensor([1.0, 2.0])[:, None].expand(2, 8)[None, None]
    out, lse = attention_reference(q, k, v)
    torch.testing.assert_close(out, torch.ones(1, 1, 2, 8))
    assert lse.isfinite().all()


def test_both_can_be_differentiated():
    for attend in (attention_sdpa, lambda *what: attention_reference(*what)[0]):
        q, k, v = (torch.randn(1, 2, 3, 4, dtype=torch.float64, requires_grad=True) for _ in range(3))
        masks = Masks(key_mask=torch.tensor([[True, False, True]]), causal=True)
        assert torch.autograd.gradcheck(lambda *qkv, attend=attend, masks=masks: attend(*qkv, masks), (q, k, v))
