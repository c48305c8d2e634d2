"""Attention by a block table by the kernels, with gradients: tokens are put in order before, and back after."""

from torch import Tensor

from mezzotint.attention.blocks.kernel_tables import in_kernel_blocks
from mezzotint.attention.blocks.table import BlockTable, in_order, restored
from mezzotint.attention.compiled import CompiledAttention
from mezzotint.attention.differentiable import attention_with_gradients, wants_gradients
from mezzotint.attention.masks import NO_MASKS, Masks
from mezzotint.dispatch.library import Unsupported


def kernel_attention(
    kernels: CompiledAttention,
    q: Tensor,
    k: Tensor,
    v: Tensor,
    table: BlockTable,
    scale: float | None = None,
    *,
    bias: Tensor | None = None,
    int8: bool = False,
    with_lse: bool = False,
) -> tuple[Tensor, Tensor | None]:
    """Same as `block_reference`, in q's dtype; the LSE is None unless `with_lse`.

    A bias `(b, h, nq, nk)`, 1 in broadcast dimensions, is by position.
    Raises Unsupported if there is no kernel, also if gradients are wanted with a bias or an LSE. They are of 16-bit
    scores.
    """
    differentiable = wants_gradients(q, k, v)
    if differentiable and (with_lse or bias is not None):
        raise Unsupported("gradients of attention with a pooled tail are wanted; the kernels have none")
    table = in_kernel_blocks(table)
    queries, keys, values = (
        in_order(each, order) for each, order in ((q, table.q_order), (k, table.k_order), (v, table.k_order))
    )
    if differentiable:
        out = attention_with_gradients(kernels, queries, keys, values, NO_MASKS, scale, table)
        return (out if table.q_order is None else restored(out, table.q_order, table.q_tokens)), None
    masks = NO_MASKS if bias is None else Masks(bias=bias)
    out, lse = kernels(queries, keys, values, masks, scale, int8=int8, with_lse=with_lse, table=table)
    if table.q_order is None:
        return out, lse
    sums = None if lse is None else restored(lse[..., None], table.q_order, table.q_tokens)[..., 0]
    return restored(out, table.q_order, table.q_tokens), sums
