"""Attention by a block table in plain torch with a dense mask: the reference for the other implementations."""

import math

from torch import Tensor

from mezzotint.attention.blocks.table import BlockTable
from mezzotint.attention.masks import Masks
from mezzotint.attention.reference import attention_reference


def block_reference(
    q: Tensor, k: Tensor, v: Tensor, table: BlockTable, scale: float | None = None
) -> tuple[Tensor, Tensor]:
    """Attention with a bias of -inf where the table shows nothing, in float64.

    q `(b, h, nq, d)`, k and v `(b, h / g, nk, d)`; returns `(b, h, nq, d)` and the LSE `(b, h, nq)`. A query that sees
    nothing gets 0 and -inf.
    """
    seen = table.seen()
    bias = seen.new_zeros(seen.shape, dtype=q.double().dtype).masked_fill_(~seen, -math.inf)
    return attention_reference(q.double(), k.double(), v.double(), Masks(bias=bias), scale)
