"""Norms of the heads of queries and keys, as their product includes them."""

from collections.abc import Sequence
from typing import Any, TypeAlias

from torch import Tensor, nn

from mezzotint.quantization.linear import Heads
from mezzotint.quantization.products.joined import HEAD_SIZES

Layer: TypeAlias = Any  # a norm of diffusers or torch, or none


def normalized_heads(norms: Sequence[Layer], x: Tensor, size: int, rotations: Tensor | None = None) -> Heads | None:
    """Heads of queries, keys and values; None if the kernels have no heads of that size, or no such norms of two."""
    known = len(norms) == 2 and all(isinstance(norm, nn.Module) and type(norm).__name__ == "RMSNorm" for norm in norms)
    if not known or size not in HEAD_SIZES or norms[0].eps is None or norms[0].eps != norms[1].eps:
        return None
    weights = [norm.weight for norm in norms]
    if any(getattr(norm, "bias", None) is not None for norm in norms):
        return None
    if any(each is not None and (each.dtype != x.dtype or each.device != x.device) for each in weights):
        return None
    return Heads(
        size=size,
        parts=(True, True, False),
        norms=(weights[0], weights[1], None),
        epsilon=float(norms[0].eps),
        rotations=rotations,
    )


def rotated_heads(norms: Sequence[Layer], x: Tensor, rotations: Tensor) -> Heads | None:
    """The same, rotated by position, of each token of x `(b, n, k)` or of each row."""
    rows = x.shape[0] * x.shape[1] if len(rotations) != x.shape[1] else x.shape[1]
    if len(rotations) != rows or rotations.device != x.device:
        return None
    return normalized_heads(norms, x, rotations.shape[1] * 2, rotations)
