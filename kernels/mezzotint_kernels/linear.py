"""Linear layers with 8-bit activations and 8- or 4-bit weights, and everything that can be fused into them."""

import ctypes

from mezzotint_kernels.abi import LinearArgs
from mezzotint_kernels.library import library


def linear_forward(args: LinearArgs, device: int, stream: int) -> None:
    """Launch the product on a stream (a cudaStream_t as a number) of `device`, which must be the current device.

    Raises Unsupported, before anything is launched, if no kernel fits, and InvalidArgument for a mistake in `args`. The
    memory itself is not checked: pointers must be on that device, buffers as large as the sizes say, and group scales
    from 1 to 17.
    """
    opened = library()
    status = opened.linear(ctypes.byref(args), device, stream)
    if status:
        opened.check(status)
