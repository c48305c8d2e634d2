"""Attention masks and bias."""

from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True, slots=True, kw_only=True)
class Masks:
    """Masks and bias of one attention call; broadcast dimensions are never materialized."""

    bias: Tensor | None = None  # (batch, heads, nq, nk), or 1 in broadcast dimensions; added to the scaled scores
    key_mask: Tensor | None = None  # (batch or 1, nk) of bool: True for visible keys
    key_lengths: Tensor | None = None  # (batch,) of int32: keys at or beyond this index are hidden
    causal: bool = False  # query i sees keys up to i + nk - nq


NO_MASKS = Masks()


def visible_keys(masks: Masks, nk: int) -> Tensor | None:
    """Mask of the keys that are not padding, `(batch or 1, 1, 1, nk)` of bool; None if all keys are visible."""
    seen = None if masks.key_mask is None else masks.key_mask[:, None, None, :]
    if masks.key_lengths is not None:
        within = torch.arange(nk, device=masks.key_lengths.device) < masks.key_lengths[:, None, None, None]
        seen = within if seen is None else seen & within
    return seen


def causal_mask(nq: int, nk: int, device: torch.device) -> Tensor:
    """Causal mask `(nq, nk)` of bool: query i sees keys up to i + nk - nq, the last query all of them."""
    queries = torch.arange(nq, device=device)[:, None]
    return torch.arange(nk, device=device) <= queries + (nk - nq)
