"""Products of MXFP8 and NVFP4 weights by the kernel library, which rounds x to the same format (RTX 50)."""

from dataclasses import dataclass
from typing import TypeAlias

import torch
from torch import Tensor
from torch.nn import functional

from mezzotint.dispatch.launching import launch
from mezzotint.dispatch.library import BlockScaledLibrary, Preparation, Unsupported
from mezzotint.quantization.block_floats import MX_BLOCK, NV_BLOCK, Mxfp8, Nvfp4
from mezzotint.quantization.fusion.around import Around
from mezzotint.quantization.linear import Branch, QuantizedWeight
from mezzotint.quantization.products.compiled import check_gradients, check_stored, readable_rows
from mezzotint.quantization.products.kernel_branches import kernel_branches
from mezzotint.quantization.shared_quantization import shared_quantize

_DTYPES = {torch.float16: 0, torch.bfloat16: 1}  # MztDtype of kernels/csrc/api.h
_MXFP8, _NVFP4 = 1, 2  # MztBlockFormat of kernels/csrc/block_scaled_api.h
_COLUMN_STEP, _OUT_STEP = 128, 8
_EPSILON = 1e-6  # for layer norm
_NOTHING = Around()
BlockFormat: TypeAlias = Mxfp8 | Nvfp4


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockScaledRows:
    """x rounded to a block-scaled format, the input of the product."""

    values: Tensor  # (m, k), a byte each; of NVFP4 (m, k / 2), two to a byte
    block_scales: Tensor  # (m, k / 32) or (m, k / 16), bytes
    scales: Tensor | None  # (m), float32, of NVFP4
    dtype: torch.dtype  # of x


class BlockScaledLinear:
    """The library's block-scaled kernels as a callable on tensors."""

    def __init__(self, library: BlockScaledLibrary) -> None:
        self.device_type = library.device_type
        self._library = library

    def __call__(
        self,
        x: Tensor,
        weight: QuantizedWeight,
        bias: Tensor | None = None,
        branch: Branch | None = None,
        preparation: Preparation = Preparation.AS_IT_IS,
        around: Around = _NOTHING,
    ) -> Tensor:
        """Same as `linear`, for x `(..., k)` after its preparation; raises Unsupported if there is no kernel.

        Copies x if its rows are not laid out as the kernels need. Does not synchronize with the device.
        """
        if around.is_something:
            raise Unsupported("block-scaled products are not joined with a norm, gate or residual")
        format_ = _check(x, weight, bias, branch, preparation, self.device_type)
        n, k = weight.shape
        rows = readable_rows(x)
        key = (k, preparation, format_.scheme)
        rounded = shared_quantize(x, key, lambda: self.quantize(rows, k, format_, preparation))
        made = kernel_branches([] if branch is None else [branch], x.dtype)
        thin = None if made.inside is None else functional.linear(rows, made.inside.down)
        out = self.multiply(rounded, weight, bias, thin, None if made.inside is None else made.inside.up)
        if made.outside is not None:
            out.addmm_(functional.linear(rows, made.outside.down), made.outside.up.t())
        return out.view(*x.shape[:-1], n)

    def quantize(self, rows: Tensor, columns: int, format_: BlockFormat, preparation: Preparation) -> BlockScaledRows:
        """Prepare rows `(m, columns)` (for GEGLU `(m, 2 columns)`) and round them to the format."""
        count, device = rows.shape[0], rows.device
        is_nvfp4 = isinstance(format_, Nvfp4)
        bits, block = (4, NV_BLOCK) if is_nvfp4 else (8, MX_BLOCK)
        values = torch.empty((count, columns * bits // 8), dtype=torch.uint8, device=device)
        block_scales = torch.empty((count, columns // block), dtype=torch.uint8, device=device)
        scales = torch.empty(count, dtype=torch.float32, device=device) if is_nvfp4 else None
        if count:
            arguments = self._library.new_block_scaled_quantize_arguments()
            arguments.format = _NVFP4 if is_nvfp4 else _MXFP8
            given = arguments.rows
            given.dtype, given.preparation, given.bits = _DTYPES[rows.dtype], preparation, bits
            given.rows, given.columns, given.epsilon = count, columns, _EPSILON
            given.x, given.x_stride = rows.data_ptr(), rows.stride(0)
            given.values, given.values_stride = values.data_ptr(), values.stride(0)
            given.scales = None if scales is None else scales.data_ptr()
            arguments.block_scales, arguments.block_scales_stride = block_scales.data_ptr(), block_scales.stride(0)
            launch(self._library.quantize_block_scaled, arguments, device)
        return BlockScaledRows(values=values, block_scales=block_scales, scales=scales, dtype=rows.dtype)

    def multiply(
        self,
        x: BlockScaledRows,
        weight: QuantizedWeight,
        bias: Tensor | None = None,
        branch_x: Tensor | None = None,
        branch_up: Tensor | None = None,
    ) -> Tensor:
        """Return x times the weight's transpose, plus bias and branch_x `(m, r)` times branch_up' `(r, n)`."""
        n, k = weight.shape
        out = torch.empty((x.values.shape[0], n), dtype=x.dtype, device=x.values.device)
        if not out.numel():
            return out
        arguments = self._library.new_block_scaled_linear_arguments()
        linear = arguments.linear
        linear.dtype, linear.rows, linear.in_columns, linear.out_columns = _DTYPES[x.dtype], out.shape[0], k, n
        linear.x, linear.x_stride = x.values.data_ptr(), x.values.stride(0)
        linear.x_scales = None if x.scales is None else x.scales.data_ptr()
        numbers = weight.tensors["weight"]
        linear.weight, linear.weight_stride = numbers.data_ptr(), numbers.stride(0)
        linear.bias = None if bias is None else bias.data_ptr()
        if branch_x is not None and branch_up is not None:
            linear.branch_x, linear.branch_up = branch_x.data_ptr(), branch_up.data_ptr()
            linear.branch_x_stride, linear.branch_up_stride = branch_x.stride(0), branch_up.stride(0)
            linear.rank = branch_up.shape[1]
        linear.out, linear.out_stride = out.data_ptr(), n
        is_nvfp4 = isinstance(weight.format, Nvfp4)
        arguments.format = _NVFP4 if is_nvfp4 else _MXFP8
        linear.x_bits = linear.weight_bits = 4 if is_nvfp4 else 8
        scales = weight.tensors["weight_scale" if is_nvfp4 else "weight_exponent"]
        arguments.x_block_scales, arguments.x_block_scales_stride = x.block_scales.data_ptr(), x.block_scales.stride(0)
        arguments.weight_block_scales, arguments.weight_block_scales_stride = scales.data_ptr(), scales.stride(0)
        arguments.weight_scale = weight.tensors["weight_scale_2"].data_ptr() if is_nvfp4 else None
        launch(self._library.multiply_block_scaled, arguments, out.device)
        return out


def block_scaled_unsupported(format_: object, shape: tuple[int, ...]) -> str | None:
    """Return why there is no kernel for a weight of this format and shape, or None if there is one."""
    if not isinstance(format_, Mxfp8 | Nvfp4) or not format_.dynamic:
        return f"{format_} has no block-scaled products"
    for name, size, multiple in (("columns", shape[1], _COLUMN_STEP), ("rows", shape[0], _OUT_STEP)):
        if size % multiple:
            return f"the weight has {size} {name}, not a multiple of {multiple}"
    return None


def _check(
    x: Tensor,
    weight: QuantizedWeight,
    bias: Tensor | None,
    branch: Branch | None,
    preparation: Preparation,
    device_type: str,
) -> BlockFormat:
    """Check what the library cannot see, or would report in terms that users do not know; return the format."""
    format_ = weight.format
    why = block_scaled_unsupported(format_, tuple(weight.shape))
    if why is not None or not isinstance(format_, Mxfp8 | Nvfp4):
        raise Unsupported(why)
    if x.device.type != device_type:
        raise Unsupported(f"x is on {x.device}; the kernels run on {device_type}")
    if x.dtype not in _DTYPES:
        raise Unsupported(f"x is {x.dtype}; the kernels take torch.float16 and torch.bfloat16")
    given = weight.shape[1] * (2 if preparation is Preparation.GEGLU else 1)
    if x.shape[-1] != given:
        raise ValueError(f"x has {x.shape[-1]} columns, and the layer takes {given}")
    if preparation is not Preparation.AS_IT_IS and branch is not None:
        raise Unsupported("a branch needs x after the activation, which the fused kernels do not return")
    for name, tensor in (*weight.tensors.items(), *([] if bias is None else [("bias", bias)])):
        check_stored(name, tensor, x)
    if bias is not None and bias.dtype != x.dtype:
        raise Unsupported(f"bias is {bias.dtype} and x {x.dtype}; they must have the same dtype")
    check_gradients(x, bias, branch)
    return format_
