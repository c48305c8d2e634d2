"""Mezzotint's CUDA kernels, opened from one library with a C ABI; knows no torch."""

from mezzotint_kernels.abi import AttentionArgs, AttentionFlags, Dtype
from mezzotint_kernels.attention import AttentionPlan, attention_forward, attention_plan
from mezzotint_kernels.errors import InvalidArgument, KernelsError, KernelsUnavailable, LaunchFailed, Unsupported
from mezzotint_kernels.information import DeviceInfo, KernelsInfo, info

__all__ = [
    "AttentionArgs",
    "AttentionFlags",
    "AttentionPlan",
    "DeviceInfo",
    "Dtype",
    "InvalidArgument",
    "KernelsError",
    "KernelsInfo",
    "KernelsUnavailable",
    "LaunchFailed",
    "Unsupported",
    "attention_forward",
    "attention_plan",
    "info",
]
