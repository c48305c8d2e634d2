"""Mezzotint's CUDA kernels, in one library with a C ABI; independent of torch."""

from mezzotint_kernels.abi import (
    AttentionArgs,
    AttentionBackwardArgs,
    AttentionFlags,
    BlockTableArgs,
    BlockTableFlags,
    Dtype,
    LinearArgs,
    Preparation,
    QuantizeArgs,
)
from mezzotint_kernels.attention import (
    AttentionCalls,
    AttentionPlan,
    attention_backward,
    attention_backward_plan,
    attention_calls,
    attention_forward,
    attention_plan,
)
from mezzotint_kernels.block_scaled import block_scaled_forward, block_scaled_quantize
from mezzotint_kernels.block_scaled_abi import BlockFormat, BlockScaledLinearArgs, BlockScaledQuantizeArgs
from mezzotint_kernels.errors import InvalidArgument, KernelsError, KernelsUnavailable, LaunchFailed, Unsupported
from mezzotint_kernels.group_norm import group_norm_forward, group_norm_workspace
from mezzotint_kernels.group_norm_abi import GroupNormArgs
from mezzotint_kernels.information import DeviceInfo, KernelsInfo, info
from mezzotint_kernels.linear import linear_forward
from mezzotint_kernels.linear_attention import linear_attention_forward, linear_attention_plan
from mezzotint_kernels.linear_attention_abi import FeatureMap, LinearAttentionArgs
from mezzotint_kernels.quantize import quantize_rows

__all__ = [
    "AttentionArgs",
    "AttentionBackwardArgs",
    "AttentionCalls",
    "AttentionFlags",
    "AttentionPlan",
    "BlockFormat",
    "BlockScaledLinearArgs",
    "BlockScaledQuantizeArgs",
    "BlockTableArgs",
    "BlockTableFlags",
    "DeviceInfo",
    "Dtype",
    "FeatureMap",
    "GroupNormArgs",
    "InvalidArgument",
    "KernelsError",
    "KernelsInfo",
    "KernelsUnavailable",
    "LaunchFailed",
    "LinearArgs",
    "LinearAttentionArgs",
    "Preparation",
    "QuantizeArgs",
    "Unsupported",
    "attention_backward",
    "attention_backward_plan",
    "attention_calls",
    "attention_forward",
    "attention_plan",
    "block_scaled_forward",
    "block_scaled_quantize",
    "group_norm_forward",
    "group_norm_workspace",
    "info",
    "linear_attention_forward",
    "linear_attention_plan",
    "linear_forward",
    "quantize_rows",
]
