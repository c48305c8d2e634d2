"""Linformer (arXiv 2006.04768): keys and values are projected to a few, to which queries attend as usual."""

from torch import Tensor

from mezzotint.attention.linear.hidden import check_linear, hide, seen_keys
from mezzotint.attention.masks import NO_MASKS, Masks
from mezzotint.attention.sdpa import attention_sdpa


def linformer_attention(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    of_keys: Tensor,
    of_values: Tensor,
    masks: Masks = NO_MASKS,
    scale: float | None = None,
) -> Tensor:
    """softmax(q (E k)^T * scale) F v `(b, h, nq, d)`; E and F are `of_keys` and `of_values` `(1 or h / g, m, nk)`.

    q `(b, h, nq, d)`, k and v `(b, h / g, nk, d)`. Masks hide keys alone, which count as 0 before they are projected.
    """
    check_linear(q, k, v, masks)
    seen = seen_keys(masks, k.shape[2])
    keys, values = of_keys.to(k) @ hide(k, seen), of_values.to(v) @ hide(v, seen)
    return attention_sdpa(q, keys, values, scale=scale)
