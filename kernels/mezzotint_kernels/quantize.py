"""Rows of 16-bit numbers as 8-bit integers with a scale for each, prepared and rotated on the way."""

import ctypes

from mezzotint_kernels.abi import QuantizeArgs
from mezzotint_kernels.library import library


def quantize_rows(args: QuantizeArgs, device: int, stream: int) -> None:
    """Queue the quantization on a stream (a cudaStream_t as a number) of the device, which must be the current one.

    Unsupported, before anything is queued, where no kernel fits; InvalidArgument for a mistake in `args`. Nothing is
    checked about the memory itself: that the pointers are of that device, and as large as the sizes say.
    """
    opened = library()
    status = opened.quantize(ctypes.byref(args), device, stream)
    if status:
        opened.check(status)
