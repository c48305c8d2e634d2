"""Attention with 8-bit products, or 16-bit sums, in plain torch: groups, rounding, mean and rotation as in the kernels.

All tensors are `(b, h, n, d)`, in float32 or float64. Sources: arXiv 2410.02367, 2411.10958 (scores); 2404.00456
(rotation).
"""

import math

import torch
from torch import Tensor
from torch.nn.functional import pad

from mezzotint.attention.masks import NO_MASKS, Masks
from mezzotint.attention.reference import masked_scores

QUERY_ROWS, KEY_ROWS = 16, 64  # that are rounded together
_FP8_WEIGHT, _FP8_VALUE = 28.0, 36.0  # the largest of a row in 64 keys, and of a column
_PRODUCT_KEYS = 16  # that one product of a tensor core sums
_LEAST = 1e-20  # of a divisor: a group of zeros stays zeros


def int8_scores_reference(
    q: Tensor, k: Tensor, v: Tensor, masks: Masks = NO_MASKS, scale: float | None = None
) -> tuple[Tensor, Tensor]:
    """Attention with scores of 8-bit q and k, and weights and values in 16 bits: output and LSE.

    q `(b, h, nq, d)`, k and v `(b, h / g, nk, d)`; returns `(b, h, nq, d)` in q's dtype, and `(b, h, nq)`.
    """
    scale = q.shape[3] ** -0.5 if scale is None else scale
    queries, keys, values, lengths = _exact(q, k, v, masks)
    rounded, mean = rounded_keys(keys, lengths)
    scores = masked_scores(rounded_queries(queries), rounded, masks, scale)
    top = scores.amax(dim=-1, keepdim=True).nan_to_num(neginf=0.0)
    weights = torch.exp(scores - top)
    total = weights.sum(dim=-1, keepdim=True)
    out = weights.half().to(scores) @ halved_values(values, lengths) / total.masked_fill(total == 0, 1.0)
    sums = (top + torch.log(total)).squeeze(-1)
    return out.to(q.dtype), sums + (queries * mean).sum(dim=-1) * scale


def int8_all_reference(
    q: Tensor, k: Tensor, v: Tensor, masks: Masks = NO_MASKS, scale: float | None = None
) -> tuple[Tensor, Tensor]:
    """The same with q and k rotated, and weights and values in 8 bits, too.

    Weights are rounded to 255ths of the largest of their row in a tile of 64 keys; row sums are those of the rounded.
    """
    return _in_8_bits(q, k, v, masks, scale, floats=False)


def _in_8_bits(
    q: Tensor, k: Tensor, v: Tensor, masks: Masks, scale: float | None, *, floats: bool
) -> tuple[Tensor, Tensor]:
    scale = q.shape[3] ** -0.5 if scale is None else scale
    queries, keys, values, lengths = _exact(q, k, v, masks)
    rounded, mean = rounded_keys(keys, lengths, rotate=True)
    scores = masked_scores(rounded_queries(rotated(queries)), rounded, masks, scale)
    weights, top = rounded_weights(scores, floats=floats)
    total = weights.sum(dim=-1, keepdim=True)
    out = weights @ rounded_values(values, lengths, floats=floats) / total.masked_fill(total == 0, 1.0)
    sums = (top + torch.log(total)).squeeze(-1)
    return out.to(q.dtype), sums + (queries * mean).sum(dim=-1) * scale


def int8_fp8_reference(
    q: Tensor, k: Tensor, v: Tensor, masks: Masks = NO_MASKS, scale: float | None = None
) -> tuple[Tensor, Tensor]:
    """The same with weights and values as floats of 8 bits (e4m3): arXiv 2411.10958, 2505.21136."""
    return _in_8_bits(q, k, v, masks, scale, floats=True)


def half_sums_reference(
    q: Tensor, k: Tensor, v: Tensor, masks: Masks = NO_MASKS, scale: float | None = None
) -> tuple[Tensor, Tensor]:
    """Attention with weights and values in float16, summed in float16 over 64 keys, 16 at a time, then in q's dtype."""
    scale = q.shape[3] ** -0.5 if scale is None else scale
    queries, keys, values, lengths = _exact(q, k, v, masks)
    scores = masked_scores(queries, torch.where(_there(keys, lengths), keys, 0.0), masks, scale)
    top = scores.amax(dim=-1, keepdim=True).nan_to_num(neginf=0.0)
    weights = torch.exp(scores - top)
    total = weights.sum(dim=-1, keepdim=True)
    kept = torch.where(_there(values, lengths), values, 0.0)
    largest = kept.abs().amax(dim=2, keepdim=True).clamp(min=_LEAST)
    out = _summed_in_half(weights.half(), (kept / largest).half()) * largest / total.masked_fill(total == 0, 1.0)
    return out.to(q.dtype), (top + torch.log(total)).squeeze(-1)


def _summed_in_half(weights: Tensor, values: Tensor) -> Tensor:
    """The product `(b, h, nq, d)` of float16 `(b, h, nq, nk)` and `(b, h, nk, d)`, in float32."""
    out = torch.zeros(*weights.shape[:3], values.shape[3], device=values.device)
    for tile in range(0, values.shape[2], KEY_ROWS):
        sums = torch.zeros_like(out, dtype=torch.float16)
        for first in range(tile, min(tile + KEY_ROWS, values.shape[2]), _PRODUCT_KEYS):
            part = slice(first, first + _PRODUCT_KEYS)
            sums = (sums.float() + weights[..., part].float() @ values[:, :, part].float()).half()
        out += sums.float()
    return out


def rotated(x: Tensor) -> Tensor:
    """Rotate the columns by Hadamard matrices, one of each power of 2 in their number: 72 = 64 + 8. Its own inverse."""
    parts, begin = [], 0
    for size in (1 << bit for bit in range(x.shape[3].bit_length() - 1, -1, -1)):
        if x.shape[3] & size:
            parts.append(_transformed(x[..., begin : begin + size]))
            begin += size
    return torch.cat(parts, dim=-1)


def _transformed(x: Tensor) -> Tensor:
    """Fast Walsh-Hadamard transform of the columns, orthonormal."""
    apart = 1
    while apart < x.shape[-1]:
        low, high = torch.unflatten(x, -1, (-1, 2, apart)).unbind(-2)
        x = torch.stack([low + high, low - high], dim=-2).flatten(-3)
        apart *= 2
    return x / math.sqrt(x.shape[-1])


def rounded_queries(q: Tensor) -> Tensor:
    """Return q in 8 bits: rows r and r + 8 of each 16 share a scale."""
    groups = torch.unflatten(_padded(q, QUERY_ROWS), 2, (-1, 2, 8))  # (b, h, tile, half, r, d)
    return _rounded(groups, dims=(3, 5)).flatten(2, 4)[:, :, : q.shape[2]]


def rounded_keys(k: Tensor, lengths: Tensor, *, rotate: bool = False) -> tuple[Tensor, Tensor]:
    """Return k less its mean in 8 bits, and the mean `(b, h, 1, d)`; keys from `lengths` `(b,)` on are padding."""
    there = _there(k, lengths)
    mean = torch.where(there, k, 0.0).sum(dim=2, keepdim=True) / lengths.clamp(min=1).view(-1, 1, 1, 1)
    centred = torch.where(there, k - mean, 0.0)
    groups = torch.unflatten(
        _padded(rotated(centred) if rotate else centred, KEY_ROWS), 2, (-1, 8, 4, 2)
    )  # (b, h, tile, j, t, pair, d)
    return _rounded(groups, dims=(3, 5, 6)).flatten(2, 5)[:, :, : k.shape[2]], mean


def halved_values(v: Tensor, lengths: Tensor) -> Tensor:
    """Return v in float16 after dividing each column by its largest magnitude, which is then restored."""
    kept = torch.where(_there(v, lengths), v, 0.0)
    largest = kept.abs().amax(dim=2, keepdim=True).clamp(min=_LEAST)
    return (kept / largest).half().to(v) * largest


def rounded_values(v: Tensor, lengths: Tensor, *, floats: bool = False) -> Tensor:
    """Return v in 8 bits with a scale for each column; as floats at most 36, so that 64 products fit into float16."""
    return _rounded(torch.where(_there(v, lengths), v, 0.0), dims=(2,), float_most=_FP8_VALUE if floats else None)


def rounded_weights(scores: Tensor, *, floats: bool = False) -> tuple[Tensor, Tensor]:
    """Weights exp(score - top) of scores `(b, h, nq, nk)` in 8 bits, and top `(b, h, nq, 1)`; 0 for a row of -inf."""
    tiles = torch.unflatten(pad(scores, (0, -scores.shape[3] % KEY_ROWS), value=-math.inf), 3, (-1, KEY_ROWS))
    tops = tiles.amax(dim=-1, keepdim=True)
    exact = torch.exp(tiles - tops.nan_to_num(neginf=0.0))
    weights = _as_e4m3(exact * _FP8_WEIGHT) / _FP8_WEIGHT if floats else torch.round(255 * exact) / 255
    top = tops.amax(dim=3, keepdim=True).nan_to_num(neginf=0.0)
    return (weights * torch.exp(tops - top)).flatten(3)[..., : scores.shape[3]], top.squeeze(-1)


def _exact(q: Tensor, k: Tensor, v: Tensor, masks: Masks) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """In at least 32 bits, with a head of keys for each of queries; and the numbers of keys `(b,)`."""
    exact = torch.promote_types(q.dtype, torch.float32)
    keys, values = (each.to(exact).repeat_interleave(q.shape[1] // k.shape[1], dim=1) for each in (k, v))
    lengths = torch.full((q.shape[0],), k.shape[2], device=q.device)
    if masks.key_lengths is not None:
        lengths = masks.key_lengths.clamp(0, k.shape[2])
    return q.to(exact), keys, values, lengths


def _there(tokens: Tensor, lengths: Tensor) -> Tensor:
    places = torch.arange(tokens.shape[2], device=tokens.device)
    return (places < lengths.unsqueeze(1)).view(tokens.shape[0], 1, -1, 1)


def _padded(tensor: Tensor, rows: int) -> Tensor:
    return pad(tensor, (0, 0, 0, -tensor.shape[2] % rows))


def _rounded(groups: Tensor, dims: tuple[int, ...], float_most: float | None = None) -> Tensor:
    step = groups.abs().amax(dim=dims, keepdim=True).clamp(min=_LEAST) / (127 if float_most is None else float_most)
    return ((groups / step).round() if float_most is None else _as_e4m3(groups / step)) * step


def _as_e4m3(x: Tensor) -> Tensor:
    return x.to(torch.float8_e4m3fn).to(x.dtype)
