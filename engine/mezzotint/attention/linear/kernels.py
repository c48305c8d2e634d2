"""The installed kernels of linear attention, used where they support a call and pass their self-test."""

import functools

import torch
from torch import Tensor

from mezzotint.attention.linear.compiled import CompiledLinearAttention
from mezzotint.attention.linear.features import FeatureMap
from mezzotint.attention.linear.self_test import run_linear_self_test
from mezzotint.attention.masks import Masks
from mezzotint.dispatch.library import LaunchFailed, Unsupported, open_installed
from mezzotint.dispatch.registry import KernelBackend
from mezzotint.gpu import runs_kernels

_SHORT = ("float16", "bfloat16")


@functools.cache
def linear_backend() -> KernelBackend[CompiledLinearAttention]:
    """Return the installed kernels, which are tested once per device and dtype."""
    return KernelBackend(
        open_kernels=lambda: CompiledLinearAttention(open_installed()),
        test=run_linear_self_test,
        wrong_device=lambda device: None if runs_kernels(device, "cuda") else f"the device is {device}",
        wrong_dtype=lambda dtype: None if dtype in _SHORT else f"the dtype is {dtype}",
    )


def by_kernels(q: Tensor, k: Tensor, v: Tensor, features: FeatureMap, masks: Masks) -> Tensor | None:
    """Linear attention `(b, h, nq, d)` by the kernels; None if torch must compute it."""
    if torch.compiler.is_compiling():
        return None
    backend, device, dtype = linear_backend(), str(q.device), str(q.dtype).removeprefix("torch.")
    kernels, problem = backend.usable(device, dtype)
    if kernels is None or problem is not None:
        return None
    try:
        return kernels(q, k, v, features, masks)
    except Unsupported:
        return None
    except LaunchFailed as error:
        backend.give_up(device, dtype, str(error))
        return None
