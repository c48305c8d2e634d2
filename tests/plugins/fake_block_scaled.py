"""A stand-in for the kernels' library on GPUs that multiply block-scaled numbers, too, in plain torch."""

import ctypes

import torch
from emulated_block_scaled import BLOCK, dequantized, quantized
from fake_products import FakeProducts, _matrix, prepared_rows

from mezzotint_kernels.block_scaled_abi import BlockFormat


class FakeBlackwell(FakeProducts):
    """Computes in float64; counts block-scaled products, which do not fail, apart from others."""

    def __init__(self, *given, **named):
        super().__init__(*given, **named)
        self.block_scaled = []  # arguments of the products

    def quantize_block_scaled(self, arguments, device, stream):
        assert arguments.size == ctypes.sizeof(arguments)
        a, format_ = arguments.rows, BlockFormat(arguments.format)
        codes, scales, row_scales = quantized(prepared_rows(a), format_)
        stored = ((a.values, a.values_stride, codes), (arguments.block_scales, arguments.block_scales_stride, scales))
        for pointer, stride, found in stored:
            _matrix(pointer, a.rows, found.shape[1], stride, torch.uint8).copy_(found)
        if format_ is BlockFormat.NVFP4:
            _matrix(a.scales, a.rows, 1, 1, torch.float32)[:, 0] = row_scales

    def multiply_block_scaled(self, arguments, device, stream):
        assert arguments.size == ctypes.sizeof(arguments)
        self.block_scaled.append(arguments)
        a, format_ = arguments.linear, BlockFormat(arguments.format)
        x, weight = (
            _read(pointer, stride, by, by_stride, rows, a.in_columns, format_)
            for pointer, stride, by, by_stride, rows in (
                (a.x, a.x_stride, arguments.x_block_scales, arguments.x_block_scales_stride, a.rows),
                (
                    a.weight,
                    a.weight_stride,
                    arguments.weight_block_scales,
                    arguments.weight_block_scales_stride,
                    a.out_columns,
                ),
            )
        )
        out = x @ weight.T
        if format_ is BlockFormat.NVFP4:
            out *= _matrix(a.x_scales, a.rows, 1, 1, torch.float32)
            out *= _matrix(arguments.weight_scale, 1, 1, 1, torch.float32)
        n = a.out_columns
        if a.bias:
            out += _matrix(a.bias, 1, n, n, a.dtype)
        if a.rank:
            thin = _matrix(a.branch_x, a.rows, a.rank, a.branch_x_stride, a.dtype).double()
            out += thin @ _matrix(a.branch_up, n, a.rank, a.branch_up_stride, a.dtype).double().T
        _matrix(a.out, a.rows, n, a.out_stride, a.dtype).copy_(out)


def _read(pointer, stride, scales, scales_stride, rows, columns, format_):
    """Rows of numbers with the scales of their blocks, float64."""
    packed = columns // 2 if format_ is BlockFormat.NVFP4 else columns
    codes = _matrix(pointer, rows, packed, stride, torch.uint8)
    by = _matrix(scales, rows, columns // BLOCK[format_], scales_stride, torch.uint8)
    return dequantized(codes.contiguous(), by.contiguous(), format_)
