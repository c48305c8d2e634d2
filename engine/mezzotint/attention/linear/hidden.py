"""Hidden keys of linear attention: masks that do not depend on queries."""

from torch import Tensor

from mezzotint.attention.arguments import check_arguments
from mezzotint.attention.masks import Masks, visible_keys


def check_linear(q: Tensor, k: Tensor, v: Tensor, masks: Masks) -> None:
    """Reject invalid arguments, and masks that depend on queries."""
    if masks.bias is not None or masks.causal:
        raise ValueError("linear attention takes key_mask and key_lengths alone; bias and causal need all scores")
    check_arguments(q, k, v, masks, 1.0)


def seen_keys(masks: Masks, nk: int) -> Tensor | None:
    """Visible keys `(batch or 1, 1, nk, 1)` of bool; None if all are."""
    seen = visible_keys(masks, nk)
    return None if seen is None else seen.mT


def hide(x: Tensor, seen: Tensor | None) -> Tensor:
    """Set what is not seen to 0, also NaN."""
    return x if seen is None else x.masked_fill(~seen, 0.0)
