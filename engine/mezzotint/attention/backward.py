"""Gradients of attention: by the backward kernels where they are installed and pass their test, else in plain torch."""

import functools
from dataclasses import replace
from typing import TypeAlias

import torch
from torch import Tensor

from mezzotint.attention.blocks.plain import block_attention
from mezzotint.attention.blocks.table import BlockTable
from mezzotint.attention.compiled_backward import Attended, CompiledBackward
from mezzotint.attention.masks import Masks
from mezzotint.attention.reference import attention_gradients
from mezzotint.dispatch.library import LaunchFailed, Unsupported, open_installed
from mezzotint.dispatch.registry import KernelBackend
from mezzotint.dispatch.self_test import SelfTest
from mezzotint.gpu import runs_kernels

Gradients: TypeAlias = tuple[Tensor, Tensor, Tensor, Tensor | None]  # of q, k, v and bias
_SHORT = ("float16", "bfloat16")


@functools.cache
def backward_backend() -> KernelBackend[CompiledBackward]:
    """Return the installed backward kernels, which are tested once per device and dtype."""
    return KernelBackend(
        open_kernels=lambda: CompiledBackward(open_installed()),
        test=_self_test,
        wrong_device=lambda device: None if runs_kernels(device, "cuda") else f"the device is {device}",
        wrong_dtype=lambda dtype: None if dtype in _SHORT else f"the dtype is {dtype}",
    )


def backward_problem(device: str, dtype: str) -> str | None:
    """What the self-test found wrong with the kernels; None if nothing, or if there are none here."""
    return backward_backend().usable(device, dtype)[1]


def check_gradients(
    q: Tensor, k: Tensor, v: Tensor, masks: Masks, scale: float, table: BlockTable | None = None
) -> None:
    """Raise Unsupported if kernels cannot compute the gradients of such a call."""
    backend, device, dtype = backward_backend(), str(q.device), _name(q.dtype)
    kernels, problem = backend.usable(device, dtype)
    if kernels is None or problem is not None:
        raise Unsupported(f"gradients are wanted: {problem or backend.missing(device, dtype)}")
    kernels.check(q, k, v, masks, scale, table)


def gradients_by_kernels(
    of: Attended, gradient: Tensor, lse_gradient: Tensor | None
) -> tuple[Tensor, Tensor, Tensor] | None:
    """Gradients of q, k and v by the kernels; None if they cannot be used here."""
    backend, device, dtype = backward_backend(), str(of.q.device), _name(of.q.dtype)
    kernels, problem = backend.usable(device, dtype)
    if kernels is None or problem is not None:
        return None
    try:
        return kernels(of, gradient, lse_gradient)
    except Unsupported:
        return None
    except LaunchFailed as error:
        backend.give_up(device, dtype, str(error))
        return None


def gradients(of: Attended, gradient: Tensor, lse_gradient: Tensor | None) -> Gradients:
    """Gradients of q, k, v and bias, from those of output and LSE; plain torch does what the kernels do not."""
    found = gradients_by_kernels(of, gradient, lse_gradient)
    if found is not None:
        return (*found, None)
    if of.table is not None:
        return (*_gradients_by_blocks(of, of.table, gradient), None)
    return attention_gradients(gradient, lse_gradient, of.q, of.k, of.v, of.masks, of.scale)


def _gradients_by_blocks(of: Attended, table: BlockTable, gradient: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    by_position = replace(
        table, q_tokens=table.q_positions, k_tokens=table.k_positions, q_order=None, k_order=None, row_order=None
    )
    q, k, v = (each.detach().requires_grad_() for each in (of.q, of.k, of.v))
    with torch.enable_grad():
        out = block_attention(q, k, v, by_position, of.scale)
    of_q, of_k, of_v = torch.autograd.grad(out, (q, k, v), gradient)
    return of_q, of_k, of_v


def _self_test(kernels: CompiledBackward, device: torch.device, dtype: torch.dtype) -> SelfTest:
    from mezzotint.attention.self_test import run_backward_self_test

    return run_backward_self_test(kernels, device, dtype)


def _name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")
