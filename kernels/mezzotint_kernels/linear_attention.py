"""Linear attention: find the kernels that would run, and run them."""

import ctypes

from mezzotint_kernels.abi import AttentionPlanStruct
from mezzotint_kernels.attention import AttentionPlan, read_plan
from mezzotint_kernels.library import library
from mezzotint_kernels.linear_attention_abi import LinearAttentionArgs


def linear_attention_plan(args: LinearAttentionArgs, device: int) -> AttentionPlan:
    """Like `attention_plan`; the plan's kernel is the number of splits of the tokens, and depends on the device."""
    opened, plan = library(), AttentionPlanStruct()
    opened.check(opened.linear_attention_plan(ctypes.byref(args), device, ctypes.byref(plan)))
    return read_plan(plan)


def linear_attention_forward(args: LinearAttentionArgs, device: int, stream: int) -> None:
    """Launch linear attention like `attention_forward`; with the same arguments it gives the same bits each time."""
    opened = library()
    status = opened.linear_attention(ctypes.byref(args), device, stream)
    if status:
        opened.check(status)
