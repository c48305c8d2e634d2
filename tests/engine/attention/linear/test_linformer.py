"""Linformer attends to projected keys and values."""

import pytest
import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

from mezzotint.attention.linear.linformer import linformer_attention
from mezzotint.attention.masks import Masks
from mezzotint.attention.reference import attention_reference


def tensors(nq=17, nk=21, kv_heads=4):
    generator = torch.Generator().manual_seed(7)
    shapes = ((2, 4, nq, 6), (2, kv_heads, nk, 6), (2, kv_heads, nk, 6), (kv_heads, 5, nk), (kv_heads, 5, nk))
    return [torch.randn(shape, generator=generator, dtype=torch.float64) for shape in shapes]


@pytest.mark.parametrize("kv_heads", [4, 2])
def test_projecting_to_every_token_is_attention(kv_heads):
    q, k, v, *_ = tensors(kv_heads=kv_heads)
    same = torch.eye(21)[None]
    torch.testing.assert_close(linformer_attention(q, k, v, same, same), attention_reference(q, k, v)[0])


def test_it_is_the_explicit_matrix():
    q, k, v, of_keys, of_values = tensors()
    key_mask = torch.arange(42).view(2, 21) % 4 != 1
    masks = Masks(key_mask=key_mask, key_lengths=torch.tensor([21, 10]).int())
    seen = key_mask & (torch.arange(21) < torch.tensor([[21], [10]]))
    weights = (0.3 * q @ (of_keys @ (k * seen[:, None, :, None])).mT).softmax(-1) @ (of_values * seen[:, None, None])
    out = linformer_attention(q, k, v, of_keys, of_values, masks, 0.3)
    torch.testing.assert_close(out, weights @ v, atol=1e-12, rtol=1e-12)


def test_hidden_keys_do_not_matter_and_no_keys_give_0():
    q, k, v, of_keys, of_values = tensors()
    lengths = Masks(key_lengths=torch.tensor([9, 0]).int())
    out = linformer_attention(q, k, v, of_keys, of_values, lengths)
    k[:, :, 9:], v[:, :, 9:] = torch.nan, torch.inf
    assert torch.equal(linformer_attention(q, k, v, of_keys, of_values, lengths), out)
    assert (out[1] == 0).all() and out[0].abs().sum() > 0


def test_gradients():
    q, k, v, of_keys, of_values = (each.requires_grad_() for each in tensors(nq=2, nk=3))
    assert torch.autograd.gradcheck(linformer_attention, (q, k, v, of_keys, of_values))


def test_twice_the_tokens_are_twice_the_work():
    counts = []
    for tokens in (64, 128):
        with sdpa_kernel(SDPBackend.MATH), FlopCounterMode(display=False) as counter:
            linformer_attention(*tensors(tokens, tokens))
        counts.append(counter.get_total_flops())
    assert counts[1] == 2 * counts[0] > 0
