"""Quantize rows of 16-bit values to 8-bit integers with a scale per row, with fused preparation and rotation."""

import ctypes

from mezzotint_kernels.abi import QuantizeArgs
from mezzotint_kernels.library import library


def quantize_rows(args: QuantizeArgs, device: int, stream: int) -> None:
    """Launch the quantization on a stream (a cudaStream_t as a number) of `device`, which must be the current device.

    Raises Unsupported, before anything is launched, if no kernel fits, and InvalidArgument for a mistake in `args`. The
    memory itself is not checked: pointers must be on that device, and buffers as large as the sizes say.
    """
    opened = library()
    status = opened.quantize(ctypes.byref(args), device, stream)
    if status:
        opened.check(status)
