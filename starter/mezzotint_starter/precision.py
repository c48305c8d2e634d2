"""Mixed precision: bfloat16 matmuls where the hardware supports them, float32 accumulation and weights."""

import contextlib
from contextlib import AbstractContextManager

import torch


def choose_precision(device: str) -> str:
    """Return `bfloat16` on GPUs and CPUs with native support, else `float32`."""
    if device.startswith("cuda"):
        return "bfloat16" if torch.cuda.is_bf16_supported() else "float32"
    return "bfloat16" if _native_on_cpu() else "float32"


def _native_on_cpu() -> bool:
    # Without native support, bfloat16 is emulated and many times slower than float32.
    return bool(torch.cpu.get_capabilities().get("avx512_bf16") or torch.cpu.get_capabilities().get("amx_bf16"))


def autocast(device: str, precision: str) -> AbstractContextManager[object]:
    """Return the autocast context for computing a loss; enter it in each thread."""
    if precision == "float32":
        return contextlib.nullcontext()
    return torch.autocast(device.partition(":")[0], torch.bfloat16)
