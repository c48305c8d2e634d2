"""Attention: find the kernel that would run, and run it."""

import ctypes
import importlib.util
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeVar

from mezzotint_kernels.abi import AttentionArgs, AttentionBackwardArgs, AttentionPlanStruct
from mezzotint_kernels.library import library

CALLS_FILE = "attention_calls.pyd" if sys.platform == "win32" else "attention_calls.abi3.so"

Tensor = TypeVar("Tensor")


@dataclass(frozen=True, slots=True, kw_only=True)
class AttentionPlan:
    """The kernel for given arguments on a device, or why there is none."""

    supported: bool
    kernel: int  # instance number, stable within a build
    workspace_bytes: int
    text: str  # the instance's name, or why there is no kernel


def attention_plan(args: AttentionArgs, device: int) -> AttentionPlan:
    """Return which kernel would run, from sizes, strides and options; pointers are never dereferenced.

    Raises KernelsUnavailable without library, driver or device, and InvalidArgument for a mistake in `args`. A valid
    request without a kernel is not an error: `supported` is False then.
    """
    opened, plan = library(), AttentionPlanStruct()
    opened.check(opened.attention_plan(ctypes.byref(args), device, ctypes.byref(plan)))
    return read_plan(plan)


def read_plan(plan: AttentionPlanStruct) -> AttentionPlan:
    """Return the contents of the library's struct."""
    return AttentionPlan(
        supported=bool(plan.supported),
        kernel=plan.kernel,
        workspace_bytes=plan.workspace_bytes,
        text=plan.text.decode("utf-8", "replace"),
    )


def attention_forward(args: AttentionArgs, device: int, stream: int) -> None:
    """Launch attention on a stream (a cudaStream_t as a number) of `device`, which must be the current device.

    The memory itself is not checked: pointers must be on that device, and buffers as large as the sizes say.
    """
    opened = library()
    status = opened.attention_forward(ctypes.byref(args), device, stream)
    if status:
        opened.check(status)


def attention_backward_plan(args: AttentionBackwardArgs, device: int) -> AttentionPlan:
    """Like `attention_plan`, for the backward pass; its workspace depends on the device."""
    opened, plan = library(), AttentionPlanStruct()
    opened.check(opened.backward_plan(ctypes.byref(args), device, ctypes.byref(plan)))
    return read_plan(plan)


def attention_backward(args: AttentionBackwardArgs, device: int, stream: int) -> None:
    """Launch the backward pass like `attention_forward`; with the same arguments it gives the same bits each time.

    With `AttentionFlags.UNORDERED` it does not, and needs less workspace.
    """
    opened = library()
    status = opened.backward(ctypes.byref(args), device, stream)
    if status:
        opened.check(status)


class AttentionCalls(Protocol[Tensor]):
    """Cached calls that go from tensors to the library in one step (extension/attention_calls.cpp)."""

    def attend(
        self,
        q: Tensor,
        k: Tensor,
        v: Tensor,
        bias: Tensor | None,
        key_mask: Tensor | None,
        key_lengths: Tensor | None,
        scale: float | None,
        flags: int,
        /,
    ) -> Tensor | None:
        """Return the output, laid out as by `empty_like`, or None if nothing was launched."""

    def remember(
        self,
        q: Tensor,
        k: Tensor,
        v: Tensor,
        bias: Tensor | None,
        key_mask: Tensor | None,
        key_lengths: Tensor | None,
        scale: float | None,
        flags: int,
        arguments: bytes,
        /,
    ) -> None:
        """Cache the arguments, an AttentionArgs, for calls of this kind; later calls replace the tensors' addresses."""


def attention_calls(
    tensor_type: type[Tensor],
    empty_like: Callable[[Tensor], Tensor],
    forward: int | None = None,
    file: Path | None = None,
) -> AttentionCalls[Tensor] | None:
    """Return an extension object that calls the library, or the function at address `forward`, with such tensors.

    None if the extension is not next to the library or cannot be loaded, or if `tensor_type` does not publish the
    DLPack exchange API. The extension only saves time; everything works without it.
    """
    file = library().path.with_name(CALLS_FILE) if file is None else file
    if forward is None:
        forward = ctypes.cast(library().attention_forward, ctypes.c_void_p).value
    spec = importlib.util.spec_from_file_location("attention_calls", file) if file.is_file() else None
    if spec is None or spec.loader is None:
        return None
    try:
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        made: AttentionCalls[Tensor] = module.AttentionCalls(forward, tensor_type, empty_like)
    except (ImportError, AttributeError):
        return None
    return made
