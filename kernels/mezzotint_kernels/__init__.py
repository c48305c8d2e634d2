"""Mezzotint's CUDA kernels, opened from one library with a C ABI; knows no torch."""

from mezzotint_kernels.abi import AttentionArgs, AttentionFlags, Dtype, LinearArgs
from mezzotint_kernels.attention import AttentionPlan, attention_forward, attention_plan
from mezzotint_kernels.errors import InvalidArgument, KernelsError, KernelsUnavailable, LaunchFailed, Unsupported
from mezzotint_kernels.information import DeviceInfo, KernelsInfo, info
from mezzotint_kernels.linear import linear_forward

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
    "LinearArgs",
    "Unsupported",
    "attention_forward",
    "attention_plan",
    "info",
    "linear_forward",
]
