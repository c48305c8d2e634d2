"""Attention by the kernel library: fills its argument structure, checked and planned once per kind of call."""

import ctypes
import math
from dataclasses import dataclass
from typing import TypedDict

import torch
from torch import Tensor

from mezzotint.attention.arguments import check_arguments
from mezzotint.attention.blocks.table import BlockTable
from mezzotint.attention.kernel_tensors import (
    CAUSAL,
    DTYPES,
    FP8_VALUES,
    HALF_SUMS,
    INT8_SCORES,
    INT8_VALUES,
    WITHOUT_HOPPER,
    Kind,
    check_layout,
    check_table,
    kinds_of,
    strides_of,
    table_kind,
    table_struct,
)
from mezzotint.attention.layout import empty_output, output_strides
from mezzotint.attention.masks import NO_MASKS, Masks
from mezzotint.dispatch.launching import launch
from mezzotint.dispatch.library import Arguments, AttentionLibrary, Unsupported


class Way(TypedDict, total=False):
    """Options of a call."""

    int8: bool
    int8_values: bool
    half_sums: bool
    fp8_values: bool


# What calls are asked for by the names of attention.
WAYS: dict[str, Way] = {
    "flash": {},
    "flash-fp16": {"half_sums": True},
    "int8": {"int8": True},
    "int8-all": {"int8": True, "int8_values": True},
    "int8-fp8": {"int8": True, "fp8_values": True},
}
_MOST_KINDS = 4096  # limit of the cache, which is cleared when it is full


@dataclass(frozen=True, slots=True)
class _Prepared:
    """Arguments and launch plan shared by all calls of one kind."""

    arguments: Arguments
    workspace_bytes: int = 0
    kernel: str = "none"  # no launch needed
    in_one_step: bool = False  # whether the library's `attention_calls` can cache the call
    unsupported: str = ""  # the reason why there is no kernel; empty if there is one


class CompiledAttention:
    """The library's attention kernels as a callable on tensors."""

    def __init__(self, library: AttentionLibrary) -> None:
        self.device_type = library.device_type
        self._library = library
        self._prepared: dict[Kind, _Prepared] = {}
        self._calls = library.attention_calls()
        self._left_out = 0  # flags of every call

    def __call__(
        self,
        q: Tensor,
        k: Tensor,
        v: Tensor,
        masks: Masks = NO_MASKS,
        scale: float | None = None,
        *,
        int8: bool = False,
        int8_values: bool = False,
        half_sums: bool = False,
        fp8_values: bool = False,
        with_lse: bool = False,
        table: BlockTable | None = None,
    ) -> tuple[Tensor, Tensor | None]:
        """Same as `attention_reference`; the LSE is None unless `with_lse`. Raises Unsupported if there is no kernel.

        The output is dense, in q's order of heads and tokens. Does not copy inputs or synchronize with the device. With
        a table, q, k and v are by position. `int8`: scores by 8-bit products; `int8_values`: all products; `half_sums`:
        weights times values summed in float16 over 64 keys at a time; `fp8_values`: those of 8-bit floats, with `int8`.
        """
        flags = _flags(masks, int8=int8 or int8_values, int8_values=int8_values)
        flags |= HALF_SUMS * half_sums | FP8_VALUES * fp8_values | self._left_out
        question = (q, k, v, masks.bias, masks.key_mask, masks.key_lengths, scale, flags)
        calls = None if with_lse or table is not None or torch.is_grad_enabled() else self._calls
        if calls is not None:
            known = calls.attend(*question)
            if known is not None:
                return known, None
        prepared = self._prepared_for(_Call(q, k, v, masks, scale, flags, with_lse, table))
        _refuse_gradients(q, k, v, masks.bias)
        out, lse = _outputs(q, with_lse)
        if q.numel() == 0 or k.shape[2] == 0:
            return out.zero_(), lse.fill_(-math.inf) if lse is not None else None
        arguments = type(prepared.arguments).from_buffer_copy(prepared.arguments)
        _point(arguments, q, k, v, masks, out, lse)
        struct = self._table_of(arguments, table)  # noqa: F841  lives until the launch
        self._launch(arguments, prepared.workspace_bytes, q)
        if calls is not None and prepared.in_one_step:
            calls.remember(*question, bytes(arguments))
        return out, lse

    def leave_out_hopper(self) -> None:
        """From now on use the kernels of all GPUs on Hopper, too, and not those of its own."""
        self._left_out = WITHOUT_HOPPER

    def kernel_name(
        self,
        q: Tensor,
        k: Tensor,
        v: Tensor,
        masks: Masks = NO_MASKS,
        *,
        int8: bool = False,
        int8_values: bool = False,
        half_sums: bool = False,
        fp8_values: bool = False,
    ) -> str:
        """Name of the kernel that such a call runs; raises Unsupported if there is none."""
        flags = _flags(masks, int8=int8 or int8_values, int8_values=int8_values)
        flags |= HALF_SUMS * half_sums | FP8_VALUES * fp8_values | self._left_out
        return self._prepared_for(_Call(q, k, v, masks, None, flags, False, None)).kernel

    def _prepared_for(self, call: "_Call") -> _Prepared:
        q, k, v, masks, scale = call.q, call.k, call.v, call.masks, call.scale_used
        tensors = kinds_of(q, k, v, masks.bias, masks.key_mask, masks.key_lengths)
        kind = (scale, call.flags, call.with_lse, table_kind(call.table), *tensors)
        prepared = self._prepared.get(kind)
        if prepared is None:
            check_arguments(q, k, v, masks, scale)
            prepared = self._remember(kind, self._prepare(call))
        if prepared.unsupported:
            raise Unsupported(prepared.unsupported)
        return prepared

    def _table_of(self, arguments: Arguments, table: BlockTable | None) -> Arguments | None:
        """Point the arguments to a structure of the table, and return it."""
        if table is None:
            return None
        struct = table_struct(self._library.new_table(), table)
        arguments.table = ctypes.addressof(struct)
        return struct

    def _launch(self, arguments: Arguments, workspace_bytes: int, q: Tensor) -> None:
        workspace = None
        if workspace_bytes:  # torch's allocator reuses memory in stream order, so freeing it after the launch is safe
            workspace = torch.empty(workspace_bytes, dtype=torch.uint8, device=q.device)
            arguments.workspace, arguments.workspace_bytes = workspace.data_ptr(), workspace_bytes
        launch(self._library.launch, arguments, q.device)

    def _prepare(self, call: "_Call") -> _Prepared:
        arguments = self._library.new_arguments()
        q, k, v, masks = call.q, call.k, call.v, call.masks
        try:
            check_layout(self.device_type, q, k, v, masks)
            if call.table is not None:
                check_table(call.table, q, k)
            _describe(arguments, call)
            if q.numel() == 0 or k.shape[2] == 0:
                return _Prepared(arguments)
            _point(arguments, q, k, v, masks, *_outputs(q, call.with_lse))
            struct = self._table_of(arguments, call.table)  # noqa: F841  lives until the plan is made
            plan = self._library.plan(arguments, q.device.index or 0)
            in_one_step = (
                call.table is None and not plan.workspace_bytes and torch.empty_like(q).stride() == output_strides(q)
            )
            return _Prepared(arguments, plan.workspace_bytes, plan.name, in_one_step)
        except Unsupported as error:
            return _Prepared(arguments, unsupported=str(error))

    def _remember(self, kind: Kind, prepared: _Prepared) -> _Prepared:
        if len(self._prepared) >= _MOST_KINDS:
            self._prepared.clear()
        self._prepared[kind] = prepared
        return prepared


@dataclass(frozen=True, slots=True)
class _Call:
    """The arguments of one call."""

    q: Tensor
    k: Tensor
    v: Tensor
    masks: Masks
    scale: float | None
    flags: int
    with_lse: bool
    table: BlockTable | None

    @property
    def scale_used(self) -> float:
        """The scale, 1 / sqrt(d) by default."""
        return self.q.shape[-1] ** -0.5 if self.scale is None else self.scale


def _flags(masks: Masks, *, int8: bool, int8_values: bool) -> int:
    return CAUSAL * masks.causal | INT8_SCORES * int8 | INT8_VALUES * int8_values


def _outputs(q: Tensor, with_lse: bool) -> tuple[Tensor, Tensor | None]:
    """Allocate the output `(b, h, nq, d)` and, if `with_lse`, the LSE `(b, h, nq)`."""
    return empty_output(q), q.new_empty(q.shape[:3], dtype=torch.float32) if with_lse else None


def _describe(arguments: Arguments, call: _Call) -> None:
    """Fill in all arguments except the pointers."""
    q, k, bias, key_mask = call.q, call.k, call.masks.bias, call.masks.key_mask
    arguments.scale = call.scale_used
    arguments.flags = call.flags
    arguments.dtype = DTYPES[q.dtype]
    arguments.batch, arguments.heads, arguments.nq, arguments.head_dim = q.shape
    arguments.kv_heads, arguments.nk = k.shape[1:3]
    for name, tensor in (("q", q), ("k", k), ("v", call.v)):
        getattr(arguments, f"{name}_stride")[:] = strides_of(tensor)
    arguments.out_stride[:] = output_strides(q)[:3]
    if key_mask is not None:
        arguments.key_mask_stride = key_mask.stride(0) if key_mask.shape[0] > 1 else 0
    if bias is not None:
        arguments.bias_dtype = DTYPES[bias.dtype]
        each = zip(bias.shape, bias.stride(), strict=True)
        arguments.bias_stride[:] = [stride if size > 1 else 0 for size, stride in each]


def _point(
    arguments: Arguments, q: Tensor, k: Tensor, v: Tensor, masks: Masks, out: Tensor, lse: Tensor | None
) -> None:
    arguments.q, arguments.k, arguments.v = q.data_ptr(), k.data_ptr(), v.data_ptr()
    arguments.out = out.data_ptr()
    if lse is not None:
        arguments.lse = lse.data_ptr()
    if masks.bias is not None:
        arguments.bias = masks.bias.data_ptr()
    if masks.key_mask is not None:
        arguments.key_mask = masks.key_mask.data_ptr()
    if masks.key_lengths is not None:
        arguments.key_lengths = masks.key_lengths.data_ptr()


def _refuse_gradients(q: Tensor, k: Tensor, v: Tensor, bias: Tensor | None) -> None:
    if torch.is_grad_enabled() and any(tensor is not None and tensor.requires_grad for tensor in (q, k, v, bias)):
        raise Unsupported("gradients are wanted; `attention_with_gradients` records them")
