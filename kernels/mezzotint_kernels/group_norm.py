"""GroupNorm and SiLU of tensors in channels_last."""

import ctypes

from mezzotint_kernels.group_norm_abi import GroupNormArgs
from mezzotint_kernels.library import library


def group_norm_workspace(args: GroupNormArgs) -> int:
    """Return the bytes of device memory that the sizes in `args` need; raises Unsupported if no kernel fits."""
    opened, size = library(), ctypes.c_int64()
    opened.check(opened.group_norm_workspace(ctypes.byref(args), ctypes.byref(size)))
    return size.value


def group_norm_forward(args: GroupNormArgs, device: int, stream: int) -> None:
    """Launch the norm like `attention_forward`; with the same arguments it gives the same bits each time."""
    opened = library()
    status = opened.group_norm(ctypes.byref(args), device, stream)
    if status:
        opened.check(status)
