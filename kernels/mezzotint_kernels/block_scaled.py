"""Linear layers of block-scaled floating-point numbers, MXFP8 and NVFP4, and the quantization of their input."""

import ctypes

from mezzotint_kernels.block_scaled_abi import BlockScaledLinearArgs, BlockScaledQuantizeArgs
from mezzotint_kernels.library import library


def block_scaled_quantize(args: BlockScaledQuantizeArgs, device: int, stream: int) -> None:
    """Launch the quantization like `quantize_rows`."""
    opened = library()
    status = opened.block_scaled_quantize(ctypes.byref(args), device, stream)
    if status:
        opened.check(status)


def block_scaled_forward(args: BlockScaledLinearArgs, device: int, stream: int) -> None:
    """Launch the product like `linear_forward`."""
    opened = library()
    status = opened.block_scaled_linear(ctypes.byref(args), device, stream)
    if status:
        opened.check(status)
