"""Attention by torch's scaled_dot_product_attention, the fallback.

Where torch would write down all scores, as for the autoencoders' heads of 512 on devices without its fused kernels,
queries are taken in parts, so that memory stays linear in tokens, as plans expect.
"""

import math

import torch
from torch import Tensor
from torch.nn.attention import SDPBackend

from mezzotint.attention.masks import NO_MASKS, Masks, causal_mask, visible_keys

_SCORES = 32 * 2**20  # bytes: far less than what the blocks of a decoder take that come after its attention


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
    mask = _mask(masks.bias, seen, q.dtype)
    rows = nq if own_causal else _queries_at_once(q, k, v, mask)
    parts = [
        torch.nn.functional.scaled_dot_product_attention(
            q[:, :, start : start + rows],
            k,
            v,
            attn_mask=mask if mask is None or mask.shape[-2] == 1 else mask[..., start : start + rows, :],
            is_causal=own_causal,
            scale=scale,
            enable_gqa=q.shape[1] != k.shape[1],
        )
        for start in range(0, nq, rows)
    ]
    out = parts[0] if len(parts) == 1 else torch.cat(parts, dim=2)
    if seen is None:
        return out
    return out.masked_fill(~seen.any(dim=-1, keepdim=True), 0.0)  # some SDPA backends return NaN for fully masked rows


def _queries_at_once(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None) -> int:
    """All queries where torch has a fused kernel; otherwise as many as have `_SCORES` bytes of scores in 32 bits."""
    nq, each = q.shape[2], 4 * q.shape[0] * q.shape[1] * k.shape[2]
    if nq * each <= _SCORES or type(q) is not Tensor or torch.compiler.is_compiling() or _is_fused(q, k, v, mask):
        return nq
    return max(1, _SCORES // each)


def _is_fused(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None) -> bool:
    try:
        choice: int = torch._fused_sdp_choice(q, k, v, mask, enable_gqa=q.shape[1] != k.shape[1])
    except NotImplementedError:  # a device without any
        return False
    return choice != SDPBackend.MATH.value


def _mask(bias: Tensor | None, seen: Tensor | None, dtype: torch.dtype) -> Tensor | None:
    if bias is None:
        return seen
    bias = bias.to(dtype)
    return bias if seen is None else bias.masked_fill(~seen, -math.inf)
