"""GroupNorm and SiLU by the kernel library."""

import torch
from torch import Tensor

from mezzotint.attention.differentiable import wants_gradients
from mezzotint.attention.kernel_tensors import DTYPES
from mezzotint.dispatch.launching import launch
from mezzotint.dispatch.library import Arguments, GroupNormLibrary, Unsupported

_ALIGNMENT = 16  # bytes
_STEP = 8  # what the number of channels is a multiple of


class CompiledGroupNorm:
    """The library's kernels of GroupNorm as a callable on tensors; the same bits each time."""

    def __init__(self, library: GroupNormLibrary) -> None:
        self.device_type = library.device_type
        self._library = library

    def __call__(
        self, x: Tensor, groups: int, weight: Tensor | None, bias: Tensor | None, epsilon: float, *, silu: bool
    ) -> Tensor:
        """GroupNorm of x `(b, c, h, w)`, with SiLU after it if asked for, in channels_last like x.

        weight and bias `(c)`; None is 1 and 0. Raises Unsupported if there is no kernel: for float32, gradients,
        tensors in other layouts, channels that are no multiple of 8. Does not wait for the device.
        """
        _check(self.device_type, x, weight, bias)
        out = torch.empty_like(x, memory_format=torch.channels_last)
        if x.numel() == 0:
            return out
        arguments = self._arguments(x, out, groups, weight, bias)
        arguments.epsilon, arguments.silu = epsilon, silu
        size = self._library.group_norm_workspace(arguments)
        # Torch's allocator reuses memory in stream order, so freeing it after the launch is safe.
        workspace = torch.empty(size, dtype=torch.uint8, device=x.device)
        arguments.workspace, arguments.workspace_bytes = workspace.data_ptr(), size
        launch(self._library.launch_group_norm, arguments, x.device)
        return out

    def _arguments(self, x: Tensor, out: Tensor, groups: int, weight: Tensor | None, bias: Tensor | None) -> Arguments:
        batch, channels, height, width = x.shape
        arguments = self._library.new_group_norm_arguments()
        arguments.dtype, arguments.batch, arguments.pixels = DTYPES[x.dtype], batch, height * width
        arguments.channels, arguments.groups = channels, groups
        for name, tensor in (("x", x), ("out", out)):
            setattr(arguments, name, tensor.data_ptr())
            getattr(arguments, f"{name}_stride")[:] = channels * height * width, channels
        for name, factors in (("weight", weight), ("bias", bias)):
            setattr(arguments, name, None if factors is None else factors.data_ptr())
        return arguments


def _check(device_type: str, x: Tensor, weight: Tensor | None, bias: Tensor | None) -> None:
    """Raise Unsupported for tensors that the kernels cannot read where they are."""
    if x.device.type != device_type:
        raise Unsupported(f"x is on {x.device}; the kernels run on {device_type}")
    if x.dtype not in (torch.float16, torch.bfloat16):
        raise Unsupported(f"x is {x.dtype}; the kernels take torch.float16 and torch.bfloat16")
    if wants_gradients(x, weight, bias):
        raise Unsupported("gradients are wanted, and the kernels have none")
    if x.ndim != 4 or not x.is_contiguous(memory_format=torch.channels_last):
        raise Unsupported(f"x has strides {x.stride()}; the kernels take images in channels_last")
    if x.shape[1] % _STEP:
        raise Unsupported(f"x has {x.shape[1]} channels; the kernels take multiples of {_STEP}")
    if x.data_ptr() % _ALIGNMENT:
        raise Unsupported(f"x is misaligned by {x.data_ptr() % _ALIGNMENT} bytes; the kernels need {_ALIGNMENT}")
    for name, factors in (("weight", weight), ("bias", bias)):
        if factors is not None and (factors.dtype, factors.device) != (x.dtype, x.device):
            raise Unsupported(f"{name} is {factors.dtype} on {factors.device}, and x {x.dtype} on {x.device}")
        if factors is not None and not factors.is_contiguous():
            raise Unsupported(f"{name} has strides {factors.stride()}; the kernels need 1")
