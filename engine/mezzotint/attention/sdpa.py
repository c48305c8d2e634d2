"""Attention by torch's scaled_dot_product_attention, the fallback."""

import math

import torch
from torch import Tensor

from mezzotint.attention.masks import NO_MASKS, Masks, causal_mask, visible_keys


def attention_sdpa(q: Tensor, k: Tensor, v: Tensor, masks: Masks = NO_MASKS, scale: float | None = None) -> Tensor:
    """Same as `attention_reference` without the LSE: `(b, h, nq, d)`; masks stay broadcast."""
    nq, nk = q.shape[2], k.shape[2]
    if nk == 0 or q.numel() == 0:
        return torch.zeros_like(q)
    seen = visible_keys(masks, nk)
    # torch aligns the causal mask with the first query and we with the last; they agree only if nq == nk.
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
    return out.masked_fill(~seen.any(dim=-1, keepdim=True), 0.0)  # some SDPA backends return NaN for fully masked rows


def _mask(bias: Tensor | None, seen: Tensor | None, dtype: torch.dtype) -> Tensor | None:
    if bias is None:
        return seen
    bias = bias.to(dtype)
    return bias if seen is None else bias.masked_fill(~seen, -math.inf)
