"""Attention in plain torch, as it is written: what every other implementation is held to."""

import math

import torch
from torch import Tensor

from mezzotint.attention.masks import NO_MASKS, Masks, causal_mask, visible_keys


def attention_reference(
    q: Tensor, k: Tensor, v: Tensor, masks: Masks = NO_MASKS, scale: float | None = None
) -> tuple[Tensor, Tensor]:
    """softmax(q k^T * scale + bias) v, and the logarithm of the softmax's sum (Vaswani et al., arXiv 1706.03762).

    q `(b, h, nq, d)`, k and v `(b, h / g, nk, d)`: g heads of q share one of k; scale is 1 / sqrt(d) unless said.
    Gives `(b, h, nq, d)` of q's dtype and `(b, h, nq)` of at least float32, in which everything is computed. A query
    that sees no key gets 0 and -inf.
    """
    exact = torch.promote_types(q.dtype, torch.float32)
    nq, nk, groups = q.shape[2], k.shape[2], q.shape[1] // k.shape[1]
    if nk == 0:
        return torch.zeros_like(q), q.new_full(q.shape[:3], -math.inf, dtype=exact)
    keys, values = (each.to(exact).repeat_interleave(groups, dim=1) for each in (k, v))
    scores = q.to(exact) @ keys.mT * (q.shape[3] ** -0.5 if scale is None else scale)
    if masks.bias is not None:
        scores = scores + masks.bias
    seen = visible_keys(masks, nk)
    if seen is not None:
        scores = scores.masked_fill(~seen, -math.inf)
    if masks.causal:
        scores = scores.masked_fill(~causal_mask(nq, nk, q.device), -math.inf)
    top = scores.amax(dim=-1, keepdim=True)
    weights = torch.exp(scores - top.masked_fill(top == -math.inf, 0.0))
    total = weights.sum(dim=-1, keepdim=True)
    out = weights @ values / total.masked_fill(total == 0, 1.0)
    return out.to(q.dtype), (top + torch.log(total)).squeeze(-1)
