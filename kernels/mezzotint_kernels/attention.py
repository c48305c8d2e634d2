"""Attention: which kernel would run, and running it."""

import ctypes
import importlib.util
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeVar

from mezzotint_kernels.abi import AttentionArgs, AttentionPlanStruct
from mezzotint_kernels.library import library

CALLS_FILE = "attention_calls.pyd" if sys.platform == "win32" else "attention_calls.abi3.so"

Tensor = TypeVar("Tensor")


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


class AttentionCalls(Protocol[Tensor]):
    """Calls of kinds that are remembered, in one step from tensors to the library (extension/attention_calls.cpp)."""

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
        """The output, as `empty_like` lays it out; None where nothing was queued, for whatever reason."""

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
        """Make such calls with these arguments, an AttentionArgs, and the addresses of their own tensors."""


def attention_calls(
    tensor_type: type[Tensor],
    empty_like: Callable[[Tensor], Tensor],
    forward: int | None = None,
    file: Path | None = None,
) -> AttentionCalls[Tensor] | None:
    """What calls the library, or a function at another address, with tensors of that type.

    None where the extension is not beside the library or cannot be loaded, or these tensors publish no DLPack exchange
    API: it saves time and does nothing that cannot be done without it.
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
