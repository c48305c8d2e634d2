"""Block floating-point formats of 8 and 4 bits: MXFP8 (arXiv 2310.10537) and NVFP4 (arXiv 2509.25149)."""

import math
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from mezzotint.quantization.constants import constant
from mezzotint.quantization.formats import PartSpec, Tensors, checked, linear_shape_problem
from mezzotint.quantization.fp8 import LARGEST
from mezzotint.quantization.nf4 import pairs_of

MX_BLOCK, NV_BLOCK = 32, 16
_BIAS = 127  # of exponents: a scale is 2 ** (byte - _BIAS)
_TINY = torch.finfo(torch.float32).tiny
# The values of E2M1: a sign, two exponent bits, one fraction bit.
_VALUES = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0)
TILE_ROWS, TILE_COLUMNS = 128, 4
_PART = 32  # rows of each of a tile's four parts, which are interleaved row by row


@dataclass(frozen=True, slots=True, kw_only=True)
class Mxfp8:
    """E4M3 floats; 32 in a row share a power-of-two scale. Products dequantize the weight.

    `dynamic`: kernels may round x to this format and multiply in it.
    """

    dynamic: bool = True

    @property
    def scheme(self) -> str:
        """Name of the quantization scheme."""
        return "mxfp8"

    def shape_problem(self, shape: tuple[int, ...]) -> str | None:
        """Return why a weight of this shape cannot be quantized in this format, or None if it can."""
        return _block_shape_problem(shape, MX_BLOCK)

    def part_specs(self, shape: tuple[int, ...]) -> dict[str, PartSpec]:
        """Return the specs of the tensors that represent a weight of this shape, by name."""
        n, k = shape
        return {
            "weight": PartSpec(shape=(n, k), dtype=torch.float8_e4m3fn),
            "weight_exponent": PartSpec(shape=(n, k // MX_BLOCK), dtype=torch.uint8),
        }

    def quantize(self, weight: Tensor, balance: Tensor | None = None) -> dict[str, Tensor]:  # noqa: ARG002  protocol
        """Quantize with the smallest power-of-two scales for which no block overflows."""
        blocks = _blocks(checked(weight), MX_BLOCK)
        needed = torch.log2((blocks.abs().amax(dim=2) / LARGEST).clamp_min(_TINY)).ceil()
        exponent = (needed + _BIAS).clamp(1, 254).to(torch.uint8)
        rounded = (blocks / _powers(exponent)[..., None]).to(torch.float8_e4m3fn)
        return {"weight": rounded.flatten(1), "weight_exponent": exponent}

    def dequantize(self, tensors: Tensors, shape: torch.Size, dtype: torch.dtype) -> Tensor:
        """Return the dequantized weight."""
        blocks = _blocks(tensors["weight"].float(), MX_BLOCK)
        return (blocks * _powers(tensors["weight_exponent"])[..., None]).view(shape).to(dtype)

    def product(self, x: Tensor, tensors: Tensors, shape: torch.Size) -> Tensor:
        """Return x `(..., k)` times the weight's transpose."""
        return functional.linear(x, self.dequantize(tensors, shape, x.dtype))


@dataclass(frozen=True, slots=True, kw_only=True)
class Nvfp4:
    """E2M1 floats, two to a byte, the first in the high half; products dequantize the weight.

    16 in a row share an 8-bit scale, and the whole tensor shares a float32 scale. `dynamic`: as of Mxfp8.
    """

    dynamic: bool = True

    @property
    def scheme(self) -> str:
        """Name of the quantization scheme."""
        return "nvfp4"

    def shape_problem(self, shape: tuple[int, ...]) -> str | None:
        """Return why a weight of this shape cannot be quantized in this format, or None if it can."""
        return _block_shape_problem(shape, NV_BLOCK)

    def part_specs(self, shape: tuple[int, ...]) -> dict[str, PartSpec]:
        """Return the specs of the tensors that represent a weight of this shape, by name."""
        n, k = shape
        return {
            "weight": PartSpec(shape=(n, k // 2), dtype=torch.uint8),
            "weight_scale": PartSpec(shape=(n, k // NV_BLOCK), dtype=torch.float8_e4m3fn),
            "weight_scale_2": PartSpec(shape=(1,), dtype=torch.float32),
        }

    def quantize(self, weight: Tensor, balance: Tensor | None = None) -> dict[str, Tensor]:  # noqa: ARG002  protocol
        """Quantize such that the largest magnitude becomes the largest float times the largest block scale."""
        blocks = _blocks(checked(weight), NV_BLOCK)
        whole = (blocks.abs().amax() / (LARGEST * _VALUES[-1])).clamp_min(_TINY)
        scale = (blocks.abs().amax(dim=2) / _VALUES[-1] / whole).clamp_max(LARGEST).to(torch.float8_e4m3fn)
        relative = blocks / (scale.float() * whole).clamp_min(_TINY)[..., None]
        values = constant(_positive, device=weight.device)
        codes = torch.bucketize(relative.abs(), (values[1:] + values[:-1]) / 2).to(torch.uint8)
        codes = (codes | (relative < 0).to(torch.uint8) << 3).flatten(1)
        return {
            "weight": codes[:, 0::2] << 4 | codes[:, 1::2],
            "weight_scale": scale,
            "weight_scale_2": whole.reshape(1),
        }

    def dequantize(self, tensors: Tensors, shape: torch.Size, dtype: torch.dtype) -> Tensor:
        """Return the dequantized weight."""
        pairs = constant(_pairs, device=tensors["weight"].device, dtype=torch.int64)
        blocks = _blocks(pairs[tensors["weight"].to(torch.int32)].view(torch.float32), NV_BLOCK)
        scale = tensors["weight_scale"].float() * tensors["weight_scale_2"]
        return (blocks * scale[..., None]).view(shape).to(dtype)

    def product(self, x: Tensor, tensors: Tensors, shape: torch.Size) -> Tensor:
        """Return x `(..., k)` times the weight's transpose."""
        return functional.linear(x, self.dequantize(tensors, shape, x.dtype))


def rounded_rows(format_: Mxfp8 | Nvfp4, x: Tensor) -> Tensor:
    """Return float32 x `(m, k)` rounded as the kernels do: of NVFP4, each row has a float32 scale of its own."""
    if isinstance(format_, Mxfp8):
        return format_.dequantize(format_.quantize(x), x.shape, torch.float32)
    largest = x.abs().amax(dim=1, keepdim=True)
    row_scale = (largest / (LARGEST * _VALUES[-1])).clamp_min(_TINY).masked_fill(largest == 0, 1)
    blocks = _blocks(x * (1 / row_scale), NV_BLOCK)
    scale = (blocks.abs().amax(dim=2, keepdim=True) / _VALUES[-1]).to(torch.float8_e4m3fn).float()
    relative = blocks * (1 / scale).masked_fill(scale == 0, 0)
    step = torch.where(relative.abs() < 2, 0.5, torch.where(relative.abs() < 4, 1.0, 2.0))  # between E2M1's values
    rounded = ((relative / step).round() * step).clamp(-_VALUES[-1], _VALUES[-1])
    return (rounded * scale).view(x.shape) * row_scale


def tiled_size(rows: int, columns: int) -> int:
    """Number of scales in the tiled layout for that many rows and columns of blocks."""
    return math.ceil(rows / TILE_ROWS) * TILE_ROWS * math.ceil(columns / TILE_COLUMNS) * TILE_COLUMNS


def untiled(scales: Tensor, rows: int, columns: int) -> Tensor:
    """Return block scales `(rows, columns)` from cuBLAS's layout in tiles of 128 x 4.

    Within a tile, the scale of row r and column c has index `16 (r mod 32) + 4 (r div 32) + c`:
    https://docs.nvidia.com/cuda/cublas/index.html#d-block-scaling-factors-layout
    """
    down, across = math.ceil(rows / TILE_ROWS), math.ceil(columns / TILE_COLUMNS)
    tiles = scales.reshape(down, across, _PART, TILE_ROWS // _PART, TILE_COLUMNS)
    whole = tiles.permute(0, 3, 2, 1, 4).reshape(down * TILE_ROWS, across * TILE_COLUMNS)
    return whole[:rows, :columns].contiguous()


def tiled(scales: Tensor) -> Tensor:
    """Return block scales `(rows, columns)` in that layout, filled up with zeros to whole tiles."""
    down, across = math.ceil(scales.shape[0] / TILE_ROWS), math.ceil(scales.shape[1] / TILE_COLUMNS)
    whole = scales.new_zeros(down * TILE_ROWS, across * TILE_COLUMNS)
    whole[: scales.shape[0], : scales.shape[1]] = scales
    tiles = whole.view(down, TILE_ROWS // _PART, _PART, across, TILE_COLUMNS).permute(0, 3, 2, 1, 4)
    return tiles.reshape(whole.shape)


def _block_shape_problem(shape: tuple[int, ...], block: int) -> str | None:
    why = linear_shape_problem(shape, group=0)
    if why is None and shape[1] % block:
        return f"{shape[1]} columns are not a multiple of the block size {block}"
    return why


def _blocks(weight: Tensor, block: int) -> Tensor:
    """View a weight `(n, k)` as blocks `(n, k / block, block)`."""
    return weight.reshape(weight.shape[0], -1, block)


def _powers(exponent: Tensor) -> Tensor:
    """2 ** (exponent - bias), by placing the bytes in the exponent field of a float32."""
    return (exponent.to(torch.int32) << 23).view(torch.float32)


def _positive() -> Tensor:
    return torch.tensor(_VALUES)


def _pairs() -> Tensor:
    return pairs_of(torch.tensor([*_VALUES, *(-value for value in _VALUES)]))
