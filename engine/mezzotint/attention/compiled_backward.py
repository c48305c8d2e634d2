"""Attention's backward pass by the kernel library; planned once per kind of call."""

import ctypes
from dataclasses import dataclass

import torch
from torch import Tensor

from mezzotint.attention.blocks.kernel_tables import transposed
from mezzotint.attention.blocks.table import BlockTable
from mezzotint.attention.kernel_tensors import (
    CAUSAL,
    DTYPES,
    Kind,
    check_layout,
    check_rows,
    check_table,
    kinds_of,
    strides_of,
    table_kind,
    table_struct,
)
from mezzotint.attention.layout import empty_output
from mezzotint.attention.masks import Masks
from mezzotint.dispatch.launching import launch
from mezzotint.dispatch.library import Arguments, BackwardLibrary, KernelPlan, Unsupported

_MOST_KINDS = 4096  # limit of the cache, which is cleared when it is full


@dataclass(frozen=True, slots=True, kw_only=True)
class Attended:
    """A finished attention: its inputs, output `(b, h, nq, d)` and LSE `(b, h, nq)`; with a table, all by position."""

    q: Tensor
    k: Tensor
    v: Tensor
    masks: Masks
    scale: float
    out: Tensor
    lse: Tensor
    table: BlockTable | None = None


class CompiledBackward:
    """The library's backward kernels as a callable on tensors; the same bits each time."""

    def __init__(self, library: BackwardLibrary) -> None:
        self.device_type = library.device_type
        self._library = library
        self._plans: dict[Kind, KernelPlan | str] = {}  # or why there is none

    def __call__(self, of: Attended, gradient: Tensor, lse_gradient: Tensor | None) -> tuple[Tensor, Tensor, Tensor]:
        """Gradients of q, k and v, each in its tensor's order of heads and tokens.

        `gradient` `(b, h, nq, d)` is that of the output, `lse_gradient` `(b, h, nq)` that of the LSE. Raises
        Unsupported if there is no kernel: for float32, a bias, unusual head sizes. Does not wait for the device.
        """
        self.check(of.q, of.k, of.v, of.masks, of.scale, of.table)
        found = empty_output(of.q), empty_output(of.k), empty_output(of.v)
        if of.q.numel() == 0 or of.k.shape[2] == 0:
            return found[0].zero_(), found[1].zero_(), found[2].zero_()
        out, gradient = (_readable(each, of.q) for each in (of.out, gradient))
        lse = of.lse.contiguous()
        of_lse = None if lse_gradient is None else lse_gradient.to(torch.float32).contiguous()
        arguments = self._arguments(of, {**_named(of.q, of.k, of.v, *found), "out": out, "out_gradient": gradient})
        arguments.lse = lse.data_ptr()
        arguments.lse_gradient = None if of_lse is None else of_lse.data_ptr()
        struct = self._table_of(arguments, of.table)  # noqa: F841  lives until the launch
        self._launch(arguments, self._plan(of.q, of.k, of.v, of.masks, of.scale, of.table).workspace_bytes, of.q)
        return found

    def check(
        self, q: Tensor, k: Tensor, v: Tensor, masks: Masks, scale: float, table: BlockTable | None = None
    ) -> None:
        """Raise Unsupported if there is no kernel for the gradients of such a call."""
        if masks.bias is not None:
            raise Unsupported("there is a bias; the backward kernels take none")
        check_layout(self.device_type, q, k, v, masks)
        if table is not None:
            check_table(table, q, k)
        if q.numel() and k.shape[2]:
            self._plan(q, k, v, masks, scale, table)

    def _table_of(self, arguments: Arguments, table: BlockTable | None) -> Arguments | None:
        """Point the arguments to a structure of the transposed table, and return it."""
        if table is None:
            return None
        struct = table_struct(self._library.new_table(), transposed(table))
        arguments.table = ctypes.addressof(struct)
        return struct

    def _arguments(self, of: Attended, tensors: dict[str, Tensor]) -> Arguments:
        """Fill in everything except the LSE, its gradient and the workspace."""
        arguments, masks = self._library.new_backward_arguments(), of.masks
        arguments.scale, arguments.dtype = of.scale, DTYPES[of.q.dtype]
        arguments.flags = CAUSAL if masks.causal else 0
        arguments.batch, arguments.heads, arguments.nq, arguments.head_dim = of.q.shape
        arguments.kv_heads, arguments.nk = of.k.shape[1:3]
        for name, tensor in tensors.items():
            setattr(arguments, name, tensor.data_ptr())
            getattr(arguments, f"{name}_stride")[:] = strides_of(tensor)
        if masks.key_lengths is not None:
            arguments.key_lengths = masks.key_lengths.data_ptr()
        if masks.key_mask is not None:
            arguments.key_mask = masks.key_mask.data_ptr()
            arguments.key_mask_stride = masks.key_mask.stride(0) if masks.key_mask.shape[0] > 1 else 0
        return arguments

    def _plan(
        self, q: Tensor, k: Tensor, v: Tensor, masks: Masks, scale: float, table: BlockTable | None
    ) -> KernelPlan:
        """Return the plan for this kind of call; raises Unsupported if there is none."""
        kind = (scale, masks.causal, table_kind(table), *kinds_of(q, k, v, masks.key_mask, masks.key_lengths))
        plan = self._plans.get(kind)
        if plan is None:
            if len(self._plans) >= _MOST_KINDS:
                self._plans.clear()
            plan = self._plans[kind] = self._ask(q, k, v, masks, scale, table)
        if isinstance(plan, str):
            raise Unsupported(plan)
        return plan

    def _ask(
        self, q: Tensor, k: Tensor, v: Tensor, masks: Masks, scale: float, table: BlockTable | None
    ) -> KernelPlan | str:
        """The library's plan, or why there is none."""
        out, lse = empty_output(q), q.new_empty(q.shape[:3], dtype=torch.float32)
        found = empty_output(q), empty_output(k), empty_output(v)
        of = Attended(q=q, k=k, v=v, masks=masks, scale=scale, out=out, lse=lse)
        arguments = self._arguments(of, {**_named(q, k, v, *found), "out": out, "out_gradient": out})
        arguments.lse = lse.data_ptr()
        struct = self._table_of(arguments, table)  # noqa: F841  lives until the plan is made
        try:
            return self._library.plan_backward(arguments, q.device.index or 0)
        except Unsupported as error:
            return str(error)

    def _launch(self, arguments: Arguments, workspace_bytes: int, q: Tensor) -> None:
        # Torch's allocator reuses memory in stream order, so freeing it after the launch is safe.
        workspace = torch.empty(workspace_bytes, dtype=torch.uint8, device=q.device)
        arguments.workspace, arguments.workspace_bytes = workspace.data_ptr(), workspace_bytes
        launch(self._library.launch_backward, arguments, q.device)


def _named(*tensors: Tensor) -> dict[str, Tensor]:
    return dict(zip(("q", "k", "v", "dq", "dk", "dv"), tensors, strict=True))


def _readable(tensor: Tensor, q: Tensor) -> Tensor:
    """Return a tensor that the kernels can read: gradients are often expanded or of another dtype."""
    try:
        check_rows("gradient", tensor)
    except Unsupported:
        return empty_output(q).copy_(tensor)
    return tensor if tensor.dtype == q.dtype else empty_output(q).copy_(tensor)
