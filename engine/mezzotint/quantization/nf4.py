"""The 4-bit NormalFloat of QLoRA (arXiv 2305.14314), in bitsandbytes' layout.

Blocks of 64 numbers along the flattened weight are scaled by their largest magnitude; each number is rounded to the
nearest of 16 quantiles of the normal distribution. With double quantization the magnitudes are 8-bit, in blocks of 256.
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from mezzotint.quantization.constants import constant

BLOCK = 64
NESTED_BLOCK = 256
_SMALLEST = 1e-38  # smallest magnitude with a finite inverse in float32
# From appendix E of the paper.
_VALUES = (
    -1.0, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453,
    -0.28444138169288635, -0.18477343022823334, -0.09105003625154495, 0.0,
    0.07958029955625534, 0.16093020141124725, 0.24611230194568634, 0.33791524171829224,
    0.44070982933044434, 0.5626170039176941, 0.7229568362236023, 1.0,
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Nested:
    """Block magnitudes in 8 bits: `codes` (blocks), `scales` (per 256 blocks), `offset`, their mean."""

    codes: Tensor
    scales: Tensor
    offset: Tensor  # (), float32


def nf4_values(device: torch.device | str = "cpu") -> Tensor:
    """The 16 values, ascending, float32."""
    return constant(_values, device=device)


def quantize_nf4(weight: Tensor) -> tuple[Tensor, Tensor]:
    """Quantize a weight to packed codes `(ceil(numbers / 2), 1)`, the first in the high half, and block magnitudes.

    The weight may have any shape. A block of zeros has magnitude 0 and the code of zero.
    """
    flat = weight.float().flatten()
    blocks = torch.nn.functional.pad(flat, (0, -flat.numel() % BLOCK)).view(-1, BLOCK)
    largest = blocks.abs().amax(dim=1)
    relative = blocks * (1 / largest.clamp(min=_SMALLEST))[:, None]
    codes = _nearest(relative, nf4_values(flat.device)).flatten()[: flat.numel() + flat.numel() % 2]
    return (codes[0::2] << 4 | codes[1::2]).view(-1, 1), largest


def dequantize_nf4(packed: Tensor, largest: Tensor, shape: torch.Size, dtype: torch.dtype) -> Tensor:
    """Dequantize packed codes with block magnitudes `(blocks)`."""
    return dequantize_codes(packed, _pairs, largest, shape, dtype)


def dequantize_codes(
    packed: Tensor, make_pairs: Callable[[], Tensor], largest: Tensor, shape: torch.Size, dtype: torch.dtype
) -> Tensor:
    """Same for other code values; `make_pairs` returns them as from `pairs_of`."""
    pairs = constant(make_pairs, device=packed.device, dtype=torch.int64)
    values = pairs[packed.flatten().to(torch.int32)].view(torch.float32)
    blocks = torch.nn.functional.pad(values, (0, -values.numel() % BLOCK)).view(-1, BLOCK) * largest[:, None]
    return blocks.flatten()[: shape.numel()].view(shape).to(dtype)


def nest(largest: Tensor) -> Nested:
    """Quantize block magnitudes to 8 bits. If all 256 of a block are equal, its scale and codes are 0."""
    offset = largest.mean()
    centred = largest - offset
    blocks = torch.nn.functional.pad(centred, (0, -centred.numel() % NESTED_BLOCK)).view(-1, NESTED_BLOCK)
    scales = blocks.abs().amax(dim=1)
    relative = blocks * (1 / scales.clamp(min=_SMALLEST))[:, None]
    relative = torch.where(scales[:, None] > 0, relative, -1)
    codes = _nearest(relative, dynamic_values(largest.device)).flatten()[: largest.numel()]
    return Nested(codes=codes, scales=scales, offset=offset)


def unnest(nested: Nested, values: Tensor | None = None) -> Tensor:
    """Dequantize nested magnitudes to `(blocks)`; `values` are the 256 code values, by default `dynamic_values`."""
    table = dynamic_values(nested.codes.device) if values is None else values
    found = table[nested.codes.to(torch.int64)]
    return found * nested.scales.repeat_interleave(NESTED_BLOCK)[: found.numel()] + nested.offset


def dynamic_values(device: torch.device | str = "cpu") -> Tensor:
    """The 256 signed values of the dynamic tree data type (arXiv 1511.04561), ascending, float32."""
    return constant(_dynamic_values, device=device)


def _dynamic_values() -> Tensor:
    values: list[float] = [0.0, 1.0]
    for exponent in range(7):
        edges = torch.linspace(0.1, 1, 2**exponent + 1)
        means = (edges[:-1] + edges[1:]) / 2 * 10.0 ** (exponent - 6)
        values += [*means.tolist(), *(-means).tolist()]
    return torch.tensor(sorted(values))


def _values() -> Tensor:
    return torch.tensor(_VALUES)


def pairs_of(values: Tensor) -> Tensor:
    """Lookup table from a byte to its two values, packed in an int64 so that one lookup decodes both."""
    return torch.cartesian_prod(values, values).view(torch.int64).flatten()


def _pairs() -> Tensor:
    return pairs_of(_values())


def _nearest(x: Tensor, values: Tensor) -> Tensor:
    """Indices, uint8, of the nearest of the ascending values."""
    return torch.bucketize(x, (values[1:] + values[:-1]) / 2).to(torch.uint8)
