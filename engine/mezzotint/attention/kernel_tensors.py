"""Tensors as the kernels take them: dtypes, strides, alignment."""

from typing import TypeAlias

import torch
from torch import Tensor

from mezzotint.attention.blocks.table import BlockTable
from mezzotint.attention.masks import Masks
from mezzotint.dispatch.library import Arguments, Unsupported

DTYPES = {torch.float16: 0, torch.bfloat16: 1, torch.float32: 2}  # MztDtype of kernels/csrc/api.h
CAUSAL, INT8_SCORES, INT8_VALUES, HALF_SUMS, FP8_VALUES, WITHOUT_HOPPER = 1, 2, 8, 16, 32, 64  # of kernels/csrc/api.h
_ALIGNMENT = 16  # bytes, required of every row

Kind: TypeAlias = tuple[object, ...]


def kinds_of(*tensors: Tensor | None) -> list[object]:
    """Cache key of the tensors: everything except their addresses (only the alignment counts) and contents."""
    found: list[object] = []
    for tensor in tensors:
        if tensor is None:
            found.append(None)
        else:
            found += (tensor.dtype, tensor.device, tensor.shape, tensor.stride())
            found.append(tensor.data_ptr() % _ALIGNMENT)
    return found


def check_layout(device_type: str, q: Tensor, k: Tensor, v: Tensor, masks: Masks) -> None:
    """Raise Unsupported for tensors that the kernels cannot read where they are."""
    if q.device.type != device_type:
        raise Unsupported(f"q is on {q.device}; the kernels run on {device_type}")
    if q.dtype not in (torch.float16, torch.bfloat16):
        raise Unsupported(f"q is {q.dtype}; the kernels take torch.float16 and torch.bfloat16")
    for name, tensor in (("q", q), ("k", k), ("v", v)):
        check_rows(name, tensor)
    key_mask, key_lengths = masks.key_mask, masks.key_lengths
    if key_mask is not None and key_mask.shape[1] > 1 and key_mask.stride(1) != 1:
        raise Unsupported(f"key_mask has strides {key_mask.stride()}; the kernels need 1 from key to key")
    if key_lengths is not None and key_lengths.shape[0] > 1 and key_lengths.stride(0) != 1:
        raise Unsupported(f"key_lengths has a stride of {key_lengths.stride(0)}; the kernels need 1")


def check_rows(name: str, tensor: Tensor) -> None:
    """Raise Unsupported unless rows are dense and start at multiples of 16 bytes."""
    if tensor.shape[3] > 1 and tensor.stride(3) != 1:
        raise Unsupported(f"{name} has strides {tensor.stride()}; the kernels need 1 along the head")
    step = _ALIGNMENT // tensor.element_size()
    if any(stride % step for stride in strides_of(tensor)):
        raise Unsupported(f"{name} has strides {tensor.stride()}; the kernels need multiples of {step}")
    past = tensor.data_ptr() % _ALIGNMENT
    if past:
        raise Unsupported(f"{name} is misaligned by {past} bytes; the kernels need an alignment of {_ALIGNMENT}")


def strides_of(tensor: Tensor) -> tuple[int, int, int]:
    """Strides of batch, head and token; 0 for dimensions of size 1."""
    sizes, strides = tensor.shape, tensor.stride()
    first, second, third = (stride if size > 1 else 0 for size, stride in zip(sizes[:3], strides[:3], strict=True))
    return first, second, third


def table_kind(table: BlockTable | None) -> Kind | None:
    """Part of the cache key that depends on a table: everything except its entries."""
    if table is None:
        return None
    return table.block_q, table.block_k, table.rows, table.stride_batch, table.stride_head, table.col.device


def check_table(table: BlockTable, q: Tensor, k: Tensor) -> None:
    """Raise ValueError if a table is not for q and k, by position, and Unsupported if the kernels do not take it."""
    wanted, found = (table.q_positions, table.k_positions), (q.shape[2], k.shape[2])
    if wanted != found:
        raise ValueError(f"the table is for {wanted} queries and keys, and there are {found}")
    if table.batch not in (1, q.shape[0]) or table.heads not in (1, q.shape[1]):
        raise ValueError(f"there are tables for {table.batch} x {table.heads} batches and heads, and q is {q.shape}")
    if table.col.device != q.device:
        raise ValueError(f"the table is on {table.col.device} and q is on {q.device}; they must be on the same device")
    if table.block_q not in (64, 128) or table.block_k != 64:
        raise Unsupported(
            f"the table has blocks of {table.block_q} x {table.block_k}; the kernels take 64 x 64 and 128 x 64"
        )


def table_struct(struct: Arguments, table: BlockTable) -> Arguments:
    """Fill in a structure; the table must live as long as it is used."""
    struct.rows, struct.block_q, struct.block_k = table.rows, table.block_q, table.block_k
    struct.stride_batch, struct.stride_head = table.stride_batch, table.stride_head
    struct.row_ptr = table.row_ptr.data_ptr()
    struct.col = table.col.data_ptr() or struct.row_ptr  # without entries nothing is read there
    if len(table.bits):
        struct.tile, struct.bits = table.tile.data_ptr(), table.bits.data_ptr()
    if table.row_order is not None:
        struct.order = table.row_order.data_ptr()
    return struct
