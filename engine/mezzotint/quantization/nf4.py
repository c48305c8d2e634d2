"""The 4-bit NormalFloat of QLoRA (arXiv 2305.14314), as bitsandbytes lays it out.

Blocks of 64 numbers, along the flattened weight, share their largest magnitude; each number is the nearest of 16
quantiles of the normal distribution. Doubly quantized, those magnitudes are themselves 8-bit, in blocks of 256.
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from mezzotint.quantization.constants import constant

BLOCK = 64
NESTED_BLOCK = 256
_SMALLEST = 1e-38  # magnitude that has an inverse in float32
# Appendix E of the paper.
_VALUES = (
    -1.0, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453,
    -0.28444138169288635, -0.18477343022823334, -0.09105003625154495, 0.0,
    0.07958029955625534, 0.16093020141124725, 0.24611230194568634, 0.33791524171829224,
    0.44070982933044434, 0.5626170039176941, 0.7229568362236023, 1.0,
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Nested:
    """Magnitudes of blocks, in 8 bits: `codes` (blocks), `scales` (blocks of 256 of them), `offset` their mean."""

    codes: Tensor
    scales: Tensor
    offset: Tensor  # (), float32


def nf4_values(device: torch.device | str = "cpu") -> Tensor:
    """The 16 values, ascending, float32."""
    return constant(_values, device=device)


def quantize_nf4(weight: Tensor) -> tuple[Tensor, Tensor]:
    """A weight of any shape as packed codes `(ceil(numbers / 2), 1)`, the first number high, and magnitudes of blocks.

    A block of zeros has magnitude 0, and the codes of zero.
    """
    flat = weight.float().flatten()
    blocks = torch.nn.functional.pad(flat, (0, -flat.numel() % BLOCK)).view(-1, BLOCK)
    largest = blocks.abs().amax(dim=1)
    relative = blocks * (1 / largest.clamp(min=_SMALLEST))[:, None]
    codes = _nearest(relative, nf4_values(flat.device)).flatten()[: flat.numel() + flat.numel() % 2]
    return (codes[0::2] << 4 | codes[1::2]).view(-1, 1), largest


def dequantize_nf4(packed: Tensor, largest: Tensor, shape: torch.Size, dtype: torch.dtype) -> Tensor:
    """The weight that packed codes and magnitudes `(blocks)` stand for."""
    return dequantize_codes(packed, _pairs, largest, shape, dtype)


def dequantize_codes(
    packed: Tensor, make_pairs: Callable[[], Tensor], largest: Tensor, shape: torch.Size, dtype: torch.dtype
) -> Tensor:
    """The same with codes that stand for other values, given as `pairs_of` has them."""
    pairs = constant(make_pairs, device=packed.device, dtype=torch.int64)
    values = pairs[packed.flatten().to(torch.int32)].view(torch.float32)
    blocks = torch.nn.functional.pad(values, (0, -values.numel() % BLOCK)).view(-1, BLOCK) * largest[:, None]
    return blocks.flatten()[: shape.numel()].view(shape).to(dtype)


def nest(largest: Tensor) -> Nested:
    """Quantize magnitudes once more. Where 256 of them are equal their scale and codes are 0."""
    offset = largest.mean()
    centred = largest - offset
    blocks = torch.nn.functional.pad(centred, (0, -centred.numel() % NESTED_BLOCK)).view(-1, NESTED_BLOCK)
    scales = blocks.abs().amax(dim=1)
    relative = blocks * (1 / scales.clamp(min=_SMALLEST))[:, None]
    relative = torch.where(scales[:, None] > 0, relative, -1)
    codes = _nearest(relative, dynamic_values(largest.device)).flatten()[: largest.numel()]
    return Nested(codes=codes, scales=scales, offset=offset)


def unnest(nested: Nested, values: Tensor | None = None) -> Tensor:
    """The magnitudes `(blocks)` that were nested, with the 256 values their codes stand for (None: the usual ones)."""
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
    """Of the 16 values of codes both of each byte as one number of 64 bits, to be looked up at once."""
    return torch.cartesian_prod(values, values).view(torch.int64).flatten()


def _pairs() -> Tensor:
    return pairs_of(_values())


def _nearest(x: Tensor, values: Tensor) -> Tensor:
    """The numbers, uint8, of the nearest of some ascending values."""
    return torch.bucketize(x, (values[1:] + values[:-1]) / 2).to(torch.uint8)
