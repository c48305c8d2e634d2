"""Attention: which kernel would run, and running it."""

import ctypes
from dataclasses import dataclass

from mezzotint_kernels.abi import AttentionArgs, AttentionPlanStruct
from mezzotint_kernels.library import library


@dataclass(frozen=True, slots=True, kw_only=True)
class AttentionPlan:
    """The kernel for some arguments on some device, or why there is none."""

    supported: bool
    kernel: int  # names the instance, stable within a build
    workspace_bytes: int
    text: str  # the instance's name, or why another implementation must do it


def attention_plan(args: AttentionArgs, device: int) -> AttentionPlan:
    """Which kernel would run; looks at sizes, strides and options and never at what pointers point to.

    KernelsUnavailable without library, driver or device; InvalidArgument for a mistake in `args`. What is well formed
    and has no kernel is no error: `supported` is False then.
    """
    opened, plan = library(), AttentionPlanStruct()
    opened.check(opened.attention_plan(ctypes.byref(args), device, ctypes.byref(plan)))
    return AttentionPlan(
        supported=bool(plan.supported),
        kernel=plan.kernel,
        workspace_bytes=plan.workspace_bytes,
        text=plan.text.decode("utf-8", "replace"),
    )


def attention_forward(args: AttentionArgs, device: int, stream: int) -> None:
    """Queue the attention on a stream (a cudaStream_t as a number) of the device, which must be the current one.

    Nothing is checked about the memory itself: that the pointers are of that device, and as large as the sizes say.
    """
    opened = library()
    status = opened.attention_forward(ctypes.byref(args), device, stream)
    if status:
        opened.check(status)
