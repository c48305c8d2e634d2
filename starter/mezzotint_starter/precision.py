"""The number format of training: bfloat16 products where the machine has them, float32 for all that is added up."""

import contextlib
from contextlib import AbstractContextManager

import torch


def choose_precision(device: str) -> str:
    """`bfloat16` on graphics cards and on processors that multiply it natively, else `float32`."""
    if device.startswith("cuda"):
        return "bfloat16" if torch.cuda.is_bf16_supported() else "float32"
    return "bfloat16" if _native_on_cpu() else "float32"


def _native_on_cpu() -> bool:
    # Elsewhere it is emulated, and many times slower than float32.
    return bool(torch.cpu.get_capabilities().get("avx512_bf16") or torch.cpu.get_capabilities().get("amx_bf16"))


def autocast(device: str, precision: str) -> AbstractContextManager[object]:
    """The scope of a loss, in each thread of its own."""
    if precision == "float32":
        return contextlib.nullcontext()
    return torch.autocast(device.partition(":")[0], torch.bfloat16)
