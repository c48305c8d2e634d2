"""Attention in plain torch, straight from the formula: the reference for all other implementations."""

import math

import torch
from torch import Tensor

from mezzotint.attention.masks import NO_MASKS, Masks, causal_mask, visible_keys


def attention_reference(
    q: Tensor, k: Tensor, v: Tensor, masks: Masks = NO_MASKS, scale: float | None = None
) -> tuple[Tensor, Tensor]:
    """softmax(q k^T * scale + bias) v, and the log-sum-exp of the scores (Vaswani et al., arXiv 1706.03762).

    q `(b, h, nq, d)`, k and v `(b, h / g, nk, d)`: g query heads share a key head; scale defaults to 1 / sqrt(d).
    Returns `(b, h, nq, d)` in q's dtype and `(b, h, nq)` in at least float32, in which everything is computed. A query
    without visible keys gets 0 and -inf.
    """
    exact = torch.promote_types(q.dtype, torch.float32)
    if k.shape[2] == 0:
        return torch.zeros_like(q), q.new_full(q.shape[:3], -math.inf, dtype=exact)
    keys, values = (each.to(exact).repeat_interleave(q.shape[1] // k.shape[1], dim=1) for each in (k, v))
    scores = masked_scores(q.to(exact), keys, masks, q.shape[3] ** -0.5 if scale is None else scale)
    top = scores.amax(dim=-1, keepdim=True)
    weights = torch.exp(scores - top.masked_fill(top == -math.inf, 0.0))
    total = weights.sum(dim=-1, keepdim=True)
    out = weights @ values / total.masked_fill(total == 0, 1.0)
    return out.to(q.dtype), (top + torch.log(total)).squeeze(-1)


def attention_gradients(
    out: Tensor, lse: Tensor | None, q: Tensor, k: Tensor, v: Tensor, masks: Masks, scale: float
) -> tuple[Tensor, Tensor, Tensor, Tensor | None]:
    """Gradients of q, k, v and bias from those of the output and the LSE (arXiv 2205.14135, appendix B.2)."""
    exact, groups = torch.promote_types(q.dtype, torch.float32), q.shape[1] // k.shape[1]
    queries, (keys, values) = q.to(exact), (each.to(exact).repeat_interleave(groups, dim=1) for each in (k, v))
    weights = torch.softmax(masked_scores(queries, keys, masks, scale), dim=-1).nan_to_num(
        0.0
    )  # rows without visible keys
    of_weights = (of_out := out.to(exact)) @ values.mT
    of_scores = weights * (of_weights - (weights * of_weights).sum(dim=-1, keepdim=True))
    if lse is not None:
        of_scores = of_scores + weights * lse.unsqueeze(-1)
    of_keys, of_values = of_scores.mT @ queries * scale, weights.mT @ of_out
    bias = None if masks.bias is None else of_scores.sum_to_size(masks.bias.shape).to(masks.bias.dtype)
    return (of_scores @ keys * scale).to(q.dtype), _shared(of_keys, k), _shared(of_values, v), bias


def masked_scores(queries: Tensor, keys: Tensor, masks: Masks, scale: float) -> Tensor:
    """Scores `(b, h, nq, nk)`, -inf for hidden keys."""
    scores = queries @ keys.mT * scale
    if masks.bias is not None:
        scores = scores + masks.bias
    seen = visible_keys(masks, keys.shape[2])
    if seen is not None:
        scores = scores.masked_fill(~seen, -math.inf)
    if masks.causal:
        scores = scores.masked_fill(~causal_mask(queries.shape[2], keys.shape[2], queries.device), -math.inf)
    return scores


def _shared(gradient: Tensor, of: Tensor) -> Tensor:
    """Sum the gradients over the query heads that share a key head."""
    batch, heads, tokens, head_dim = of.shape
    return gradient.view(batch, heads, gradient.shape[1] // heads, tokens, head_dim).sum(dim=2).to(of.dtype)
