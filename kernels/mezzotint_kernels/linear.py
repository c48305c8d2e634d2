"""Products of 8-bit activations with weights of 8 or 4 bits, and all that may be added to them."""

import ctypes

from mezzotint_kernels.abi import LinearArgs
from mezzotint_kernels.library import library


def linear_forward(args: LinearArgs, device: int, stream: int) -> None:
    """Queue the product on a stream (a cudaStream_t as a number) of the device, which must be the current one.

    Unsupported, before anything is queued, where no kernel fits; InvalidArgument for a mistake in `args`. Nothing is
    checked about the memory itself: that the pointers are of that device, as large as the sizes say, and that group
    scales are from 1 to 17.
    """
    opened = library()
    status = opened.linear(ctypes.byref(args), device, stream)
    if status:
        opened.check(status)
