"""Validation of attention arguments; error messages name the argument and its value.

Tensors are `(batch, heads, tokens, head_dim)` with any strides. An invalid argument is a bug in the calling code, not a
user error, and raises TypeError or ValueError.
"""

import math

import torch
from torch import Tensor

from mezzotint.attention.masks import Masks

FLOATS = (torch.float16, torch.bfloat16, torch.float32, torch.float64)


def check_arguments(q: Tensor, k: Tensor, v: Tensor, masks: Masks, scale: float) -> None:
    """Reject invalid arguments; whether an implementation supports them is not checked here."""
    if not math.isfinite(scale):
        raise ValueError(f"scale is {scale}; it must be a finite number, such as 1 / sqrt(head_dim)")
    for name, tensor in (("q", q), ("k", k), ("v", v)):
        _check_kind(name, tensor, q)
    _check_shapes(q, k, v)
    if masks.bias is not None:
        _check_bias(masks.bias, q, k)
    if masks.key_mask is not None:
        _check_key_mask(masks.key_mask, q, k)
    if masks.key_lengths is not None:
        _check_key_lengths(masks.key_lengths, q)


def _check_kind(name: str, tensor: Tensor, q: Tensor) -> None:
    if tensor.dtype not in FLOATS:
        raise TypeError(f"{name} is {tensor.dtype}; it must be one of {', '.join(map(str, FLOATS))}")
    if tensor.dtype != q.dtype:
        raise TypeError(f"{name} is {tensor.dtype} and q is {q.dtype}; they must be equal")
    _check_device(name, tensor, q)
    if tensor.ndim != 4:
        raise ValueError(f"{name} has shape {tuple(tensor.shape)}; it must be (batch, heads, tokens, head_dim)")


def _check_device(name: str, tensor: Tensor, q: Tensor) -> None:
    if tensor.device != q.device:
        raise ValueError(f"{name} is on {tensor.device} and q is on {q.device}; they must be on the same device")


def _check_shapes(q: Tensor, k: Tensor, v: Tensor) -> None:
    if k.shape != v.shape:
        raise ValueError(f"k has shape {tuple(k.shape)} and v {tuple(v.shape)}; they must be equal")
    if q.shape[0] != k.shape[0]:
        raise ValueError(f"q has a batch of {q.shape[0]} and k of {k.shape[0]}; they must be equal")
    if q.shape[3] != k.shape[3] or q.shape[3] == 0:
        raise ValueError(f"q has a head size of {q.shape[3]} and k of {k.shape[3]}; they must be equal and not 0")
    if k.shape[1] == 0 or q.shape[1] % k.shape[1]:
        raise ValueError(f"q has {q.shape[1]} heads and k {k.shape[1]}; the first must be a multiple of the second")


def _check_bias(bias: Tensor, q: Tensor, k: Tensor) -> None:
    if bias.dtype not in (torch.float32, q.dtype):
        raise TypeError(f"bias is {bias.dtype}; it must be torch.float32 or that of q, {q.dtype}")
    _check_device("bias", bias, q)
    whole = (q.shape[0], q.shape[1], q.shape[2], k.shape[2])
    if bias.ndim != 4 or any(size not in (1, full) for size, full in zip(bias.shape, whole, strict=True)):
        raise ValueError(f"bias has shape {tuple(bias.shape)}; it must be {whole}, or 1 where it is the same for all")


def _check_key_mask(key_mask: Tensor, q: Tensor, k: Tensor) -> None:
    if key_mask.dtype != torch.bool:
        raise TypeError(f"key_mask is {key_mask.dtype}; it must be torch.bool, True for a key that is seen")
    _check_device("key_mask", key_mask, q)
    batch, nk = q.shape[0], k.shape[2]
    if key_mask.ndim != 2 or key_mask.shape[0] not in (1, batch) or key_mask.shape[1] != nk:
        raise ValueError(f"key_mask has shape {tuple(key_mask.shape)}; it must be ({batch}, {nk}) or (1, {nk})")


def _check_key_lengths(key_lengths: Tensor, q: Tensor) -> None:
    if key_lengths.dtype != torch.int32:
        raise TypeError(f"key_lengths is {key_lengths.dtype}; it must be torch.int32")
    _check_device("key_lengths", key_lengths, q)
    if tuple(key_lengths.shape) != (q.shape[0],):
        raise ValueError(
            f"key_lengths has shape {tuple(key_lengths.shape)}; it must be ({q.shape[0]},), one per batch item"
        )
