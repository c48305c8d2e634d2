"""What a query sees, and what is added to its scores."""

from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True, slots=True, kw_only=True)
class Masks:
    """All that hides or weighs keys; broadcast parts are never written out."""

    bias: Tensor | None = None  # (batch, heads, nq, nk), 1 where it is the same for all; added to the scaled scores
    key_mask: Tensor | None = None  # (batch or 1, nk) of bool: True for a key that is seen
    key_lengths: Tensor | None = None  # (batch,) of int32: keys from there on are not seen
    causal: bool = False  # query i sees keys up to i + nk - nq


NO_MASKS = Masks()


def visible_keys(masks: Masks, nk: int) -> Tensor | None:
    """What is not padding, `(batch or 1, 1, 1, nk)` of bool; None when every key is seen."""
    seen = None if masks.key_mask is None else masks.key_mask[:, None, None, :]
    if masks.key_lengths is not None:
        within = torch.arange(nk, device=masks.key_lengths.device) < masks.key_lengths[:, None, None, None]
        seen = within if seen is None else seen & within
    return seen


def causal_mask(nq: int, nk: int, device: torch.device) -> Tensor:
    """Query i sees keys up to i + nk - nq: `(nq, nk)` of bool, the last query sees all."""
    queries = torch.arange(nq, device=device)[:, None]
    return torch.arange(nk, device=device) <= queries + (nk - nq)
