"""The attention custom op registered with torch, through which torch.compile sees every implementation.

Eager code calls the implementations directly: going through torch's dispatcher costs about as much as a call of the
kernel library.
"""

import contextlib
import functools
from typing import Any, Literal, TypeAlias, get_args

import torch
from torch import Tensor

from mezzotint.attention.arguments import check_arguments
from mezzotint.attention.backward import gradients
from mezzotint.attention.compiled import WAYS, CompiledAttention
from mezzotint.attention.compiled_backward import Attended
from mezzotint.attention.layout import empty_output, output_strides
from mezzotint.attention.masks import NO_MASKS, Masks
from mezzotint.attention.reference import attention_gradients, attention_reference
from mezzotint.attention.sdpa import attention_sdpa
from mezzotint.dispatch.library import LaunchFailed, Unavailable, Unsupported, open_installed

Implementation: TypeAlias = Literal["flash", "flash-fp16", "int8", "int8-all", "int8-fp8", "sdpa", "reference"]

# What kernels are asked for, in turn.
_TRIED: dict[str, tuple[str, ...]] = {
    "flash": ("flash",),
    "flash-fp16": ("flash-fp16", "flash"),
    "int8": ("int8",),
    "int8-all": ("int8-all", "int8"),
    "int8-fp8": ("int8-fp8", "int8"),
}

_ARGUMENTS = (
    "Tensor q, Tensor k, Tensor v, Tensor? bias, Tensor? key_mask, Tensor? key_lengths, "
    "bool causal, float scale, str implementation"
)
_BACKWARD = (
    "Tensor gradient, Tensor? lse_gradient, Tensor q, Tensor k, Tensor v, Tensor? key_mask, Tensor? key_lengths, "
    "Tensor? out, Tensor? lse, bool causal, float scale"
)


def _attention(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    bias: Tensor | None,
    key_mask: Tensor | None,
    key_lengths: Tensor | None,
    causal: bool,
    scale: float,
    implementation: str,
) -> Tensor:
    """Return `(b, h, nq, d)` in q's layout; falls back to SDPA if there is no kernel."""
    masks = Masks(bias=bias, key_mask=key_mask, key_lengths=key_lengths, causal=causal)
    _check(q, k, v, masks, scale, implementation)
    done = _by_kernels(q, k, v, masks, scale, implementation, with_lse=False)
    if done is not None:
        return done[0]
    if implementation == "reference":
        return _in_layout_of(q, attention_reference(q, k, v, masks, scale)[0])
    return _in_layout_of(q, attention_sdpa(q, k, v, masks, scale))


def _attention_with_lse(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    bias: Tensor | None,
    key_mask: Tensor | None,
    key_lengths: Tensor | None,
    causal: bool,
    scale: float,
    implementation: str,
) -> tuple[Tensor, Tensor]:
    """Return `(b, h, nq, d)` in q's layout and the LSE `(b, h, nq)`; falls back to the reference implementation."""
    masks = Masks(bias=bias, key_mask=key_mask, key_lengths=key_lengths, causal=causal)
    _check(q, k, v, masks, scale, implementation)
    done = _by_kernels(q, k, v, masks, scale, implementation, with_lse=True)
    if done is not None and done[1] is not None:
        return done[0], done[1]
    out, lse = attention_reference(q, k, v, masks, scale)
    return _in_layout_of(q, out), lse


def _attention_fake(q: Tensor, *_: object) -> Tensor:
    return empty_output(q)


def _attention_with_lse_fake(q: Tensor, *_: object) -> tuple[Tensor, Tensor]:
    return empty_output(q), q.new_empty(q.shape[:3], dtype=torch.promote_types(q.dtype, torch.float32))


def _check(q: Tensor, k: Tensor, v: Tensor, masks: Masks, scale: float, implementation: str) -> None:
    if implementation not in get_args(Implementation):
        raise ValueError(f"implementation is {implementation!r}; it must be one of {get_args(Implementation)}")
    check_arguments(q, k, v, masks, scale)


def _by_kernels(
    q: Tensor, k: Tensor, v: Tensor, masks: Masks, scale: float, implementation: str, *, with_lse: bool
) -> tuple[Tensor, Tensor | None] | None:
    kernels = _installed() if implementation in _TRIED else None
    if kernels is None:
        return None
    for asked in _TRIED[implementation]:
        with contextlib.suppress(Unsupported, LaunchFailed):
            return kernels(q, k, v, masks, scale, with_lse=with_lse, **WAYS[asked])
    return None


@functools.cache
def _installed() -> CompiledAttention | None:
    try:
        return CompiledAttention(open_installed())
    except Unavailable:
        return None


def _in_layout_of(q: Tensor, out: Tensor) -> Tensor:
    """Copy the output to the layout that the fake implementation promises, if it differs."""
    return out if out.stride() == output_strides(q) else empty_output(q).copy_(out)


def _keep(ctx: Any, inputs: tuple[Any, ...], output: object) -> None:  # noqa: ANN401  torch's names
    outputs = output if isinstance(output, tuple) else ()
    ctx.save_for_backward(*inputs[:6], *outputs)
    ctx.causal, ctx.scale, ctx.implementation = inputs[6:9]


def _gradients(ctx: Any, out: Tensor, lse: Tensor | None = None) -> tuple[Tensor | None, ...]:  # noqa: ANN401
    q, k, v, bias, key_mask, key_lengths, *outputs = ctx.saved_tensors
    if ctx.implementation == "flash" and bias is None:
        asked = (out, lse, q, k, v, key_mask, key_lengths, *(outputs or (None, None)), ctx.causal, ctx.scale)
        return (*torch.ops.mezzotint.attention_backward(*asked), *[None] * 6)
    masks = Masks(bias=bias, key_mask=key_mask, key_lengths=key_lengths, causal=ctx.causal)
    return (*attention_gradients(out, lse, q, k, v, masks, ctx.scale), *[None] * 5)


def _attention_backward(
    gradient: Tensor,
    lse_gradient: Tensor | None,
    q: Tensor,
    k: Tensor,
    v: Tensor,
    key_mask: Tensor | None,
    key_lengths: Tensor | None,
    out: Tensor | None,
    lse: Tensor | None,
    causal: bool,
    scale: float,
) -> tuple[Tensor, Tensor, Tensor]:
    """Return the gradients of q, k and v in their layouts; output and LSE that were not kept are computed again."""
    masks = Masks(key_mask=key_mask, key_lengths=key_lengths, causal=causal)
    if out is None or lse is None:
        out, lse = _by_kernels(q, k, v, masks, scale, "flash", with_lse=True) or (None, None)
    if out is None or lse is None:
        found = attention_gradients(gradient, lse_gradient, q, k, v, masks, scale)[:3]
    else:
        of = Attended(q=q, k=k, v=v, masks=masks, scale=scale, out=out, lse=lse)
        found = gradients(of, gradient, lse_gradient)[:3]
    of_q, of_k, of_v = (_in_layout_of(*each) for each in zip((q, k, v), found, strict=True))
    return of_q, of_k, of_v


def _attention_backward_fake(
    _: Tensor, __: Tensor | None, q: Tensor, k: Tensor, v: Tensor, *___: object
) -> tuple[Tensor, Tensor, Tensor]:
    return empty_output(q), empty_output(k), empty_output(v)


def _declare() -> torch.library.Library:
    library = torch.library.Library("mezzotint", "FRAGMENT")  # type: ignore[no-untyped-call]
    library.define(f"attention({_ARGUMENTS}) -> Tensor")  # type: ignore[no-untyped-call]
    library.define(f"attention_with_lse({_ARGUMENTS}) -> (Tensor, Tensor)")  # type: ignore[no-untyped-call]
    library.define(f"attention_backward({_BACKWARD}) -> (Tensor, Tensor, Tensor)")  # type: ignore[no-untyped-call]
    library.impl("attention", _attention, "CompositeExplicitAutograd")  # type: ignore[no-untyped-call]
    library.impl("attention_with_lse", _attention_with_lse, "CompositeExplicitAutograd")  # type: ignore[no-untyped-call]
    library.impl("attention_backward", _attention_backward, "CompositeExplicitAutograd")  # type: ignore[no-untyped-call]
    for name in ("attention", "attention_with_lse"):  # otherwise compiled code would silently have no gradients
        torch.library.register_autograd(f"mezzotint::{name}", _gradients, setup_context=_keep, lib=library)
    torch.library.register_fake("mezzotint::attention", _attention_fake, lib=library)
    torch.library.register_fake("mezzotint::attention_with_lse", _attention_with_lse_fake, lib=library)
    torch.library.register_fake("mezzotint::attention_backward", _attention_backward_fake, lib=library)
    return library


_LIBRARY = _declare()  # torch unregisters the ops once this is gone


def attention(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    masks: Masks = NO_MASKS,
    scale: float | None = None,
    *,
    implementation: Implementation = "sdpa",
) -> Tensor:
    """softmax(q k^T * scale + bias) v through torch's dispatcher, for compiled code.

    q `(b, h, nq, d)`, k and v `(b, h / g, nk, d)`; scale defaults to 1 / sqrt(d). Returns `(b, h, nq, d)`. If gradients
    are wanted of `flash`, the LSE is kept for the backward kernels.
    """
    scale = q.shape[-1] ** -0.5 if scale is None else scale
    arguments = q, k, v, masks.bias, masks.key_mask, masks.key_lengths, masks.causal, scale, implementation
    if implementation == "flash" and torch.is_grad_enabled() and any(each.requires_grad for each in (q, k, v)):
        return torch.ops.mezzotint.attention_with_lse(*arguments)[0]  # type: ignore[no-any-return]
    return torch.ops.mezzotint.attention(*arguments)  # type: ignore[no-any-return]
