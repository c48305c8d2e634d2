"""Attention by torch's own scaled_dot_product_attention: what runs where nothing better does."""

import math

import torch
from torch import Tensor

from mezzotint.attention.masks import NO_MASKS, Masks, causal_mask, visible_keys


def attention_sdpa(q: Tensor, k: Tensor, v: Tensor, masks: Masks = NO_MASKS, scale: float | None = None) -> Tensor:
    """As `attention_reference`, `(b, h, nq, d)`; masks stay broadcast, and a query that sees no key gets 0."""
    nq, nk = q.shape[2], k.shape[2]
    if nk == 0 or q.numel() == 0:
        return torch.zeros_like(q)
    seen = visible_keys(masks, nk)
    # torch counts causality from the first query and we from the last: alike only where there are as many keys.
    own_causal = masks.causal and nq == nk and masks.bias is None and seen is None
    if masks.causal and not own_causal:
        earlier = causal_mask(nq, nk, q.device)[None, None]
        seen = earlier if seen is None else seen & earlier
    out = torch.nn.functional.scaled_dot_product_attention(
        q,
        k,
        v,
        attn_mask=_mask(masks.bias, seen, q.dtype),
        is_causal=own_causal,
        scale=scale,
        enable_gqa=q.shape[1] != k.shape[1],
    )
    if seen is None:
        return out
    return out.masked_fill(~seen.any(dim=-1, keepdim=True), 0.0)  # some of its implementations make it not-a-number


def _mask(bias: Tensor | None, seen: Tensor | None, dtype: torch.dtype) -> Tensor | None:
    if bias is None:
        return seen
    bias = bias.to(dtype)
    return bias if seen is None else bias.masked_fill(~seen, -math.inf)
