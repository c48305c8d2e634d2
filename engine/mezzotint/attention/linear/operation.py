"""Linear attention in two steps, as kernels have them: a summary of all keys and values, then its use by each query.

The summary is a sum over tokens, taken in chunks of a fixed size, whose sums are added in the order of the tokens.
Features do not depend on chunks. So the size of chunks changes nothing but the rounding of sums; with the same size,
hidden keys after the last visible one change no bit, however many there are.
"""

from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext

import torch
from torch import Tensor

from mezzotint.attention.linear.features import FeatureMap
from mezzotint.attention.linear.hidden import check_linear, hide, seen_keys
from mezzotint.attention.linear.kernels import by_kernels
from mezzotint.attention.masks import NO_MASKS, Masks

CHUNK = 64  # tokens that are summed by one product


def linear_attention(
    q: Tensor, k: Tensor, v: Tensor, features: FeatureMap, masks: Masks = NO_MASKS, *, chunk: int = CHUNK
) -> Tensor:
    """phi(q) (sum of phi(k) v^T) / phi(q) (sum of phi(k)), without a matrix of queries and keys (arXiv 2006.16236).

    q `(b, h, nq, d)`, k and v `(b, h / g, nk, d)`; returns `(b, h, nq, d)` in q's dtype, summed in at least float32.
    Masks hide keys alone. A query without visible keys gets 0, and NaNs of hidden keys go nowhere. Computed by the
    kernels where they can, which have chunks of their own.
    """
    check_linear(q, k, v, masks)
    with _without_autocast(q.device.type):
        made = by_kernels(q, k, v, features, masks)
        return plain_linear_attention(q, k, v, features, masks, chunk=chunk) if made is None else made


def plain_linear_attention(
    q: Tensor, k: Tensor, v: Tensor, features: FeatureMap, masks: Masks = NO_MASKS, *, chunk: int = CHUNK
) -> Tensor:
    """Same as `linear_attention`, in plain torch, of arguments that were checked."""
    exact, seen = torch.promote_types(q.dtype, torch.float32), seen_keys(masks, k.shape[2])
    summary = summarize(features, k.to(exact), v.to(exact), seen, chunk=chunk)
    return apply_summary(features, q.to(exact), summary).to(q.dtype)


def _without_autocast(device_type: str) -> AbstractContextManager[object]:
    """Keep products in the dtype of what is multiplied."""
    supported = torch.amp.is_autocast_available(device_type)
    return torch.autocast(device_type, enabled=False) if supported else nullcontext()


def summarize(features: FeatureMap, k: Tensor, v: Tensor, seen: Tensor | None, *, chunk: int = CHUNK) -> Tensor:
    """Sum of phi(k) [v, 1]^T over keys `(b, h, r, d + 1)`, for k and v `(b, h, nk, d)`; see the module for chunks."""
    mapped = features.keys(hide(k, seen), seen) if k.shape[2] else features.queries(k)
    mapped, values = hide(mapped, seen), torch.nn.functional.pad(hide(v, seen), (0, 1), value=1.0)
    total = mapped.new_zeros(*mapped.shape[:2], mapped.shape[3], values.shape[3])
    for keys, of_keys in zip(_chunks(mapped, chunk), _chunks(values, chunk), strict=True):
        total = total + keys.mT @ of_keys
    return total


def _chunks(x: Tensor, chunk: int) -> Iterator[Tensor]:
    """Split `(b, h, n, d)` into chunks of equal size, the last filled up with 0."""
    padded = torch.nn.functional.pad(x, (0, 0, 0, -x.shape[2] % chunk))
    for start in range(0, padded.shape[2], chunk):
        yield padded[:, :, start : start + chunk]


def apply_summary(features: FeatureMap, q: Tensor, summary: Tensor) -> Tensor:
    """Values `(b, h, nq, d)` of queries `(b, h, nq, d)` from a summary `(b, h / g, r, d + 1)`."""
    shared = summary.repeat_interleave(q.shape[1] // summary.shape[1], dim=1)
    sums = features.queries(q) @ shared
    total = features.divisor(sums[..., -1:])
    return sums[..., :-1] / total.masked_fill(total == 0, 1.0)
