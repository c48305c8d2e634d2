"""Attention by the kernels with gradients by the kernels, for eager code."""

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from mezzotint.attention.backward import check_gradients, gradients
from mezzotint.attention.blocks.table import BlockTable
from mezzotint.attention.compiled import CompiledAttention
from mezzotint.attention.compiled_backward import Attended
from mezzotint.attention.masks import Masks


def wants_gradients(*tensors: Tensor | None) -> bool:
    """Whether autograd has to record an operation on these tensors."""
    return torch.is_grad_enabled() and any(each is not None and each.requires_grad for each in tensors)


def attention_with_gradients(
    kernels: CompiledAttention,
    q: Tensor,
    k: Tensor,
    v: Tensor,
    masks: Masks,
    scale: float | None,
    table: BlockTable | None = None,
) -> Tensor:
    """Attention `(b, h, nq, d)` that autograd records; raises Unsupported unless kernels do forward and backward.

    With a table, q, k and v are by position.
    """
    scale = q.shape[-1] ** -0.5 if scale is None else scale
    check_gradients(q, k, v, masks, scale, table)
    return _Attention.apply(kernels, q, k, v, masks, scale, table)  # type: ignore[no-any-return, no-untyped-call]


class _Attention(torch.autograd.Function):
    """Keeps inputs, output and the logarithm of sums, nothing of size nq x nk."""

    @staticmethod
    def forward(
        ctx: Any,  # noqa: ANN401  torch's
        kernels: CompiledAttention,
        q: Tensor,
        k: Tensor,
        v: Tensor,
        masks: Masks,
        scale: float,
        table: BlockTable | None,
    ) -> Tensor:
        out, lse = kernels(q, k, v, masks, scale, with_lse=True, table=table)
        ctx.save_for_backward(q, k, v, masks.key_mask, masks.key_lengths, out, lse)
        ctx.causal, ctx.scale, ctx.table = masks.causal, scale, table
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:  # noqa: ANN401
        q, k, v, key_mask, key_lengths, out, lse = ctx.saved_tensors
        masks = Masks(key_mask=key_mask, key_lengths=key_lengths, causal=ctx.causal)
        of = Attended(q=q, k=k, v=v, masks=masks, scale=ctx.scale, out=out, lse=lse, table=ctx.table)
        return None, *gradients(of, gradient, None)[:3], None, None, None
