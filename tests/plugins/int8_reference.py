"""Attention with 8-bit scores in plain torch: groups, rounding and mean as in the kernels, sums in float64."""

import math

import torch

QUERY_ROWS, KEY_ROWS = 16, 64


def rounded_queries(q: torch.Tensor) -> torch.Tensor:
    """Return quantized queries (b, h, n, d): rows r and r + 8 of each 16 share a scale."""
    padded = _padded(q, QUERY_ROWS)
    groups = padded.unflatten(2, (-1, 2, 8))  # (b, h, tile, half, r, d)
    return _rounded(groups, dims=(3, 5)).flatten(2, 4)[:, :, : q.shape[2]]


def rounded_keys(k: torch.Tensor, lengths: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return quantized, mean-free keys (b, h, n, d) and the mean (b, h, 1, d); keys from `lengths` on are padding."""
    there = (torch.arange(k.shape[2]) < lengths.unsqueeze(1)).view(k.shape[0], 1, -1, 1)
    kept = torch.where(there, k, 0.0)
    mean = kept.sum(dim=2, keepdim=True) / lengths.clamp(min=1).view(-1, 1, 1, 1)
    groups = _padded(torch.where(there, k - mean, 0.0), KEY_ROWS).unflatten(2, (-1, 8, 4, 2))  # tile, j, t, pair
    return _rounded(groups, dims=(3, 5, 6)).flatten(2, 5)[:, :, : k.shape[2]], mean


def rounded_values(v: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
    """Return values (b, h, n, d) in float16 after dividing each column by its largest magnitude."""
    there = (torch.arange(v.shape[2]) < lengths.unsqueeze(1)).view(v.shape[0], 1, -1, 1)
    kept = torch.where(there, v, 0.0)
    largest = kept.abs().amax(dim=2, keepdim=True).clamp(min=1e-20)
    return (kept / largest).half().double() * largest


def attend(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    *,
    scale: float,
    bias: torch.Tensor | None,
    hidden: torch.Tensor,
    lengths: torch.Tensor,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return output and LSE, float64, for float64 tensors (b, h, n, d)."""
    keys, mean = rounded_keys(k, lengths)
    scores = rounded_queries(q) @ keys.transpose(-1, -2) * scale
    if bias is not None:
        scores = scores + bias
    scores = scores.masked_fill(hidden, -math.inf)
    largest = scores.amax(dim=-1, keepdim=True).nan_to_num(neginf=0.0)
    weights = torch.exp(scores - largest).half().double()  # the kernels multiply weights as float16
    total = torch.exp(scores - largest).sum(dim=-1, keepdim=True)
    out = torch.where(total > 0, weights @ rounded_values(v, lengths) / total, 0.0)
    sums = torch.logsumexp(scores, dim=-1) + (q * mean).sum(dim=-1) * scale
    return out, sums


def _padded(tensor: torch.Tensor, rows: int) -> torch.Tensor:
    return torch.nn.functional.pad(tensor, (0, 0, 0, -tensor.shape[2] % rows))


def _rounded(groups: torch.Tensor, dims: tuple[int, ...]) -> torch.Tensor:
    step = groups.abs().amax(dim=dims, keepdim=True).clamp(min=1e-20) / 127
    return (groups / step).round() * step
